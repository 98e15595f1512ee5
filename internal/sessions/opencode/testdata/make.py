"""Makes session.db of the rows in session.txtar, in the schema of opencode 1.18: python3 make.py"""
import json, os, sqlite3

here = os.path.dirname(os.path.abspath(__file__))
db = os.path.join(here, "session.db")
if os.path.exists(db):
    os.remove(db)
c = sqlite3.connect(db)
c.executescript("""
CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text,
  `slug` text NOT NULL, `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL,
  `cost` real DEFAULT 0 NOT NULL, `revert` text, `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL,
  CONSTRAINT `fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL,
  CONSTRAINT `fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE);
CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
""")
name, files = None, {}
for line in open(os.path.join(here, "session.txtar")):
    if line.startswith("-- ") and line.endswith(" --\n"):
        name = line[3:-4]
        files[name] = ""
    elif name:
        files[name] += line
session = {}
for path in reversed(sorted(files)):  # sessions, parts, messages
    kind = path.split("/")
    if kind[0] != "storage":
        continue
    d = json.loads(files[path])
    if kind[1] == "session":
        c.execute("INSERT INTO session VALUES (?,?,?,'slug',?,?,'1.18.33',0,?,?,?)",
                  (d["id"], d["projectID"], d.get("parentID"), d["directory"], d["title"],
                   json.dumps(d["revert"]) if "revert" in d else None,
                   d["time"]["created"], d["time"]["updated"]))
for path in sorted(files):
    kind = path.split("/")
    if kind[0] == "storage" and kind[1] == "message":
        d = json.loads(files[path])
        session[kind[3][:-5]] = kind[2]
        c.execute("INSERT INTO message VALUES (?,?,?,?,?)", (
            kind[3][:-5], kind[2], d["time"]["created"],
            d["time"].get("completed", d["time"]["created"]), files[path].strip()))
for path in sorted(files):
    kind = path.split("/")
    if kind[0] == "storage" and kind[1] == "part":
        c.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", (
            kind[3][:-5], kind[2], session[kind[2]], 1, 1, files[path].strip()))
c.commit()
c.execute("VACUUM")
