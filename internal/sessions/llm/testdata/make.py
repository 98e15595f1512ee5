"""Makes logs.db in the schema of llm 0.32, which has that of older versions in it, too:
python3 make.py"""
import hashlib, json, os, sqlite3

here = os.path.dirname(os.path.abspath(__file__))
db = os.path.join(here, "logs.db")
if os.path.exists(db):
    os.remove(db)
c = sqlite3.connect(db)
c.executescript("""
CREATE TABLE [conversations] ([id] TEXT PRIMARY KEY, [name] TEXT, [model] TEXT);
CREATE TABLE "responses" ([id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT,
  [prompt_json] TEXT, [options_json] TEXT, [response] TEXT, [response_json] TEXT,
  [conversation_id] TEXT REFERENCES [conversations]([id]), [duration_ms] INTEGER,
  [datetime_utc] TEXT, [input_tokens] INTEGER, [output_tokens] INTEGER, [token_details] TEXT,
  [schema_id] TEXT, [resolved_model] TEXT, [reasoning] TEXT);
CREATE TABLE [attachments] ([id] TEXT PRIMARY KEY, [type] TEXT, [path] TEXT, [url] TEXT,
  [content] BLOB);
CREATE TABLE [prompt_attachments] ([response_id] TEXT, [attachment_id] TEXT, [order] INTEGER,
  PRIMARY KEY ([response_id], [attachment_id]));
CREATE TABLE [fragments] ([id] INTEGER PRIMARY KEY, [hash] TEXT, [content] TEXT,
  [datetime_utc] TEXT, [source] TEXT);
CREATE TABLE [prompt_fragments] ([response_id] TEXT, [fragment_id] INTEGER, [order] INTEGER,
  PRIMARY KEY ([response_id], [fragment_id], [order]));
CREATE TABLE [system_fragments] ([response_id] TEXT, [fragment_id] INTEGER, [order] INTEGER,
  PRIMARY KEY ([response_id], [fragment_id], [order]));
CREATE TABLE [schemas] ([id] TEXT PRIMARY KEY, [content] TEXT);
CREATE TABLE [tools] ([id] INTEGER PRIMARY KEY, [hash] TEXT, [name] TEXT, [description] TEXT,
  [input_schema] TEXT, [plugin] TEXT);
CREATE TABLE [tool_responses] ([tool_id] INTEGER, [response_id] TEXT,
  PRIMARY KEY ([tool_id], [response_id]));
CREATE TABLE "turn_tools" ("turn_id" TEXT, "tool_id" INTEGER, "instance_id" INTEGER,
  PRIMARY KEY ("turn_id", "tool_id"));
CREATE TABLE [tool_calls] ([id] INTEGER PRIMARY KEY, [response_id] TEXT, [tool_id] INTEGER,
  [name] TEXT, [arguments] TEXT, [tool_call_id] TEXT);
CREATE TABLE [tool_results] ([id] INTEGER PRIMARY KEY, [response_id] TEXT, [tool_id] INTEGER,
  [name] TEXT, [output] TEXT, [tool_call_id] TEXT, [instance_id] INTEGER, [exception] TEXT);
CREATE TABLE [tool_results_attachments] ([tool_result_id] INTEGER, [attachment_id] TEXT,
  [order] INTEGER, PRIMARY KEY ([tool_result_id], [attachment_id]));
CREATE TABLE "messages" ("hash" TEXT PRIMARY KEY, "parent_hash" TEXT REFERENCES "messages"("hash"),
  "role" TEXT, "provider_metadata" TEXT);
CREATE TABLE "parts" ("id" INTEGER PRIMARY KEY, "message_hash" TEXT, "position" INTEGER,
  "type" TEXT, "tool_name" TEXT, "text" TEXT, "payload" TEXT);
CREATE TABLE "part_attachments" ("part_id" INTEGER, "attachment_id" TEXT, "order" INTEGER,
  PRIMARY KEY ("part_id", "attachment_id", "order"));
CREATE TABLE "part_fragments" ("part_id" INTEGER, "fragment_id" INTEGER, "order" INTEGER,
  PRIMARY KEY ("part_id", "fragment_id", "order"));
CREATE TABLE "threads" ("id" TEXT PRIMARY KEY, "name" TEXT, "tip_message_hash" TEXT,
  "forked_from" TEXT REFERENCES "threads"("id"), "datetime_utc" TEXT);
CREATE TABLE "turns" ("id" TEXT PRIMARY KEY, "thread_id" TEXT, "parent_message_hash" TEXT,
  "tip_message_hash" TEXT, "model" TEXT, "resolved_model" TEXT, "options_json" TEXT,
  "schema_id" TEXT, "input_tokens" INTEGER, "output_tokens" INTEGER, "token_details" TEXT,
  "duration_ms" INTEGER, "datetime_utc" TEXT, "response_json" TEXT);
""")


def add(table, **row):
    c.execute("INSERT INTO %s (%s) VALUES (%s)" % (
        table, ",".join('"%s"' % k for k in row), ",".join("?" * len(row))), list(row.values()))


def time(s):
    return "2026-01-02T03:04:%02d.123456+00:00" % s


# Before 0.32.
add("conversations", id="01old", name="Suggest a name", model="gpt-4o-mini")
add("fragments", id=1, hash="f1", content="a fragment", source="/home/ada/notes.txt")
add("fragments", id=2, hash="f2", content="from the web", source="https://example.com/x")
add("fragments", id=3, hash="f3", content="be kind")
add("attachments", id="a1", type="image/png", content=b"\x89PNG\r\n\x1a\nx")
add("attachments", id="a2", type="audio/wav", url="https://example.com/a.wav")
old = dict(model="gpt-4o-mini", options_json="{}", conversation_id="01old", duration_ms=900,
           input_tokens=10, output_tokens=5, resolved_model="gpt-4o-mini-2024", system="be brief")
add("responses", id="01b", prompt="And a walrus", response="", reasoning="hm", datetime_utc=time(2),
    **old)
add("responses", id="01a", prompt="Suggest a name", response="Percy", datetime_utc=time(0),
    options_json='{"temperature": 0.5}',
    **{k: v for k, v in old.items() if k != "options_json"})
add("responses", id="01c", prompt="", response="Wallace", datetime_utc=time(4),
    token_details='{"prompt_tokens_details": {"cached_tokens": 4}}', **old)
add("prompt_fragments", response_id="01a", fragment_id=2, order=1)
add("prompt_fragments", response_id="01a", fragment_id=1, order=0)
add("system_fragments", response_id="01a", fragment_id=3, order=0)
add("prompt_attachments", response_id="01a", attachment_id="a1", order=0)
add("prompt_attachments", response_id="01a", attachment_id="a2", order=1)
add("tool_calls", id=1, response_id="01b", name="lookup", arguments='{"name": "walrus"}',
    tool_call_id="call_1")
add("tool_calls", id=2, response_id="01b", name="fail", arguments="[1]")
add("tool_results", id=1, response_id="01c", name="lookup", output="found", tool_call_id="call_1",
    exception="Late")
add("attachments", id="a3", type="image/png", content=b"\x89PNG\r\n\x1a\ny")
add("tool_results_attachments", tool_result_id=1, attachment_id="a3", order=0)
add("tool_results", id=2, response_id="01c", name="fail", output="", tool_call_id="01b.1",
    exception="Oops")
add("schemas", id="s1", content='{"properties": {"note": {"description": "said A"}}}')
add("tools", id=1, hash="t1", name="lookup", description="said B", input_schema='{"x": "said C"}')
add("tool_responses", tool_id=1, response_id="01z")
add("responses", id="01z", prompt="alone", response="yes", datetime_utc=time(9), model="m",
    schema_id="s1", prompt_json='{"messages": [{"content": "alone"}, {"content": "said D"}]}')

# Since 0.32. The name of a message is a digest of what it says and of the one before.
parts = [0]


def message(parent, role, *said):
    h = "b2:" + hashlib.blake2b(json.dumps([parent, role, said]).encode(), digest_size=16).hexdigest()
    if not c.execute("SELECT 1 FROM messages WHERE hash = ?", (h,)).fetchone():
        add("messages", hash=h, parent_hash=parent, role=role)
        for i, p in enumerate(said):
            parts[0] += 1
            add("parts", id=parts[0], message_hash=h, position=i, **p)
    return h


def turn(id, thread, parent, tip, at, **row):
    add("turns", id=id, thread_id=thread, parent_message_hash=parent, tip_message_hash=tip,
        model="claude-x", input_tokens=10, output_tokens=5, duration_ms=500,
        datetime_utc=time(at), **row)


def text(t):
    return dict(type="text", text=t)


system = message(None, "system", text("be brief"))
ask = message(system, "user", text("Name a pelican"), dict(type="attachment"))
add("part_attachments", part_id=parts[0], attachment_id="a1", order=0)
answer = message(ask, "assistant", dict(type="reasoning", text="hm"), text("Percy"))
turn("02a", "02thread", ask, answer, 10)
add("tools", id=2, hash="t2", name="name", description="said E")
add("turn_tools", turn_id="02a", tool_id=2)
again = message(answer, "user", text("Now look it up"))
calls = message(again, "assistant", dict(
    type="tool_call", tool_name="lookup",
    payload='{"tool_call_id": "call_2", "arguments": {"name": "Percy"}}'))
turn("02b", "02thread", again, calls, 20)
result = message(calls, "tool", dict(
    type="tool_result", tool_name="lookup", payload='{"tool_call_id": "call_2", "output": "taken"}'))
done = message(result, "assistant", text("It is taken."), dict(type="hologram", payload="{}"))
turn("02c", "02thread", result, done, 30, response_json='{"finish": "stop"}')
add("threads", id="02thread", name="Pelicans", tip_message_hash=done, datetime_utc=time(10))
other = message(answer, "user", text("Another"))
wing = message(other, "assistant", text("Wing"))
turn("03a", "03fork", other, wing, 40)
add("threads", id="03fork", tip_message_hash=wing, forked_from="02thread", datetime_utc=time(40))
aside = message(answer, "user", text("Left behind"))
turn("02d", "02thread", aside, message(aside, "assistant", text("?")), 50)
c.commit()
c.execute("VACUUM")
