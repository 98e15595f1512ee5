"""Makes the databases beside this file, with SQLite itself: python3 make.py"""
import os, shutil, sqlite3

here = os.path.dirname(os.path.abspath(__file__))


def path(name):
    p = os.path.join(here, name)
    for end in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(p + end):
            os.remove(p + end)
    return p


def row(i):
    text = None if i % 10 == 9 else "row %d " % i + "ä" * (i % 7 * 60)
    number = [i, -i, 1 << (i % 63), None, 0, 1][i % 6]
    return "group %02d" % (i * 7 % 20), text, number, i / 4, bytes([i % 256]) * (i % 40)


def rows(name, mode, page):
    c = sqlite3.connect(path(name), isolation_level=None)
    c.execute("PRAGMA page_size=%d" % page)
    c.execute("PRAGMA journal_mode=%s" % mode)
    c.execute("""CREATE TABLE "rows" ( -- a comment, with a comma
        "key" INTEGER PRIMARY KEY, [grp] TEXT NOT NULL, `text` TEXT, number INTEGER,
        twice INTEGER GENERATED ALWAYS AS (number * 2) VIRTUAL,
        real REAL DEFAULT (1.0), data BLOB, CHECK (real >= 0))""")
    c.execute("CREATE INDEX by_group ON rows (grp, number)")
    c.execute("CREATE TABLE folded (name TEXT COLLATE NOCASE, n INTEGER)")
    c.execute("CREATE INDEX by_name ON folded (name)")
    c.execute("CREATE TABLE bare (k TEXT PRIMARY KEY, v) WITHOUT ROWID")
    c.executemany("INSERT INTO folded VALUES (?, ?)", [("A", 1), ("a", 2), ("b", 3)])
    return c


def insert(c, start, end):
    c.execute("BEGIN")
    c.executemany("INSERT INTO rows (grp, text, number, real, data) VALUES (?,?,?,?,?)",
                  [row(i) for i in range(start, end)])
    c.execute("COMMIT")


c = rows("rows.db", "delete", 512)
insert(c, 0, 200)
c.execute("ALTER TABLE rows ADD COLUMN late TEXT")
c.execute("INSERT INTO rows (grp, late) VALUES ('group late', 'here')")
c.close()

# The log has transactions that are in no page of the file, and one that is not over.
c = rows("log.db", "wal", 1024)
c.execute("PRAGMA wal_autocheckpoint=0")
insert(c, 0, 50)
c.execute("PRAGMA wal_checkpoint(PASSIVE)")
insert(c, 50, 90)
c.execute("UPDATE rows SET text = 'changed' WHERE key = 1")
c.execute("PRAGMA cache_size=1")
c.execute("BEGIN")
c.execute("UPDATE rows SET text = 'not committed'")
for end in ("", "-wal"):
    shutil.copy(os.path.join(here, "log.db" + end), os.path.join(here, "kept" + end))
c.execute("ROLLBACK")
c.close()
for end in ("", "-wal"):
    os.replace(os.path.join(here, "kept" + end), os.path.join(here, "log.db" + end))

c = sqlite3.connect(path("utf16.db"))
c.execute("PRAGMA encoding='UTF-16'")
c.execute("CREATE TABLE t (x)")
c.commit()
