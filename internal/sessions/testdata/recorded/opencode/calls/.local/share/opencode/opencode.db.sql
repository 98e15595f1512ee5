PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE `project` (
          `id` text PRIMARY KEY,
          `worktree` text NOT NULL,
          `vcs` text,
          `name` text,
          `icon_url` text,
          `icon_url_override` text,
          `icon_color` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_initialized` integer,
          `sandboxes` text NOT NULL,
          `commands` text
        );
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436537527,1795436537527,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085b6a50001eWyPDEpbqOdBZy','ses_df7a4961affeY6tbQtZggRkEbH',1795436538448,1795436545304,'{"role":"user","time":{"created":1795436538448},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[{"file":"notes.txt","patch":"Index: notes.txt\n===================================================================\n--- notes.txt\t\n+++ notes.txt\t\n@@ -1,3 +1,3 @@\n one\n two\n-three\n+four\n","additions":1,"deletions":1,"status":"modified"}]}}');
INSERT INTO message VALUES('msg_2085b70d0001xMD5ZA0nz0iX7r','ses_df7a4961affeY6tbQtZggRkEbH',1795436540112,1795436543629,'{"parentID":"msg_2085b6a50001eWyPDEpbqOdBZy","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436540112,"completed":1795436543628},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_2085b7e91001NrtLSivZBkSwX8','ses_df7a4961affeY6tbQtZggRkEbH',1795436543633,1795436544316,'{"parentID":"msg_2085b6a50001eWyPDEpbqOdBZy","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436543633,"completed":1795436544311},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_2085b8142001JlYu6ISRwiTImi','ses_df7a4961affeY6tbQtZggRkEbH',1795436544322,1795436545018,'{"parentID":"msg_2085b6a50001eWyPDEpbqOdBZy","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436544322,"completed":1795436545016},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_2085b8402001o4raU2mA9mr3UJ','ses_df7a4961affeY6tbQtZggRkEbH',1795436545026,1795436545409,'{"parentID":"msg_2085b6a50001eWyPDEpbqOdBZy","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436545026,"completed":1795436545407},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085b6a5d001YMe9hm7ljKZMkE','msg_2085b6a50001eWyPDEpbqOdBZy','ses_df7a4961affeY6tbQtZggRkEbH',1795436540014,1795436540025,'{"type":"text","text":"\"Change three to four in notes.txt.\""}');
INSERT INTO part VALUES('prt_2085b7af0001KKM0zvwFLjHE00','msg_2085b70d0001xMD5ZA0nz0iX7r','ses_df7a4961affeY6tbQtZggRkEbH',1795436542704,1795436542707,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085b7af6001QMEj8dwL1HE6Wm','msg_2085b70d0001xMD5ZA0nz0iX7r','ses_df7a4961affeY6tbQtZggRkEbH',1795436542710,1795436542723,'{"type":"text","text":"Let me look.","time":{"start":1795436542710,"end":1795436542722}}');
INSERT INTO part VALUES('prt_2085b7b15001s9s47P3Mo2XbgS','msg_2085b70d0001xMD5ZA0nz0iX7r','ses_df7a4961affeY6tbQtZggRkEbH',1795436542741,1795436543347,'{"type":"tool","tool":"read","callID":"toolu_0000000000000000000002","state":{"status":"completed","input":{"filePath":"/tmp/git-jp-agents/project/notes.txt"},"output":"<path>/tmp/git-jp-agents/project/notes.txt</path>\n<type>file</type>\n<content>\n1: one\n2: two\n3: three\n\n(End of file - total 3 lines)\n</content>","metadata":{"preview":"one\ntwo\nthree","truncated":false,"loaded":[],"display":{"type":"file","path":"/tmp/git-jp-agents/project/notes.txt","text":"one\ntwo\nthree","lineStart":1,"lineEnd":3,"totalLines":3,"truncated":false}},"title":"notes.txt","time":{"start":1795436542791,"end":1795436543345}}}');
INSERT INTO part VALUES('prt_2085b7b5a001dAq7zbDGY1XvvN','msg_2085b70d0001xMD5ZA0nz0iX7r','ses_df7a4961affeY6tbQtZggRkEbH',1795436542810,1795436543311,'{"type":"tool","tool":"bash","callID":"toolu_0000000000000000000003","state":{"status":"completed","input":{"command":"wc -l notes.txt","description":"Runs a command"},"output":"3 notes.txt\n","metadata":{"output":"3 notes.txt\n","exit":0,"truncated":false},"title":"wc -l notes.txt","time":{"start":1795436542826,"end":1795436543309}}}');
INSERT INTO part VALUES('prt_2085b7e19001lMwH7qSpsmCSr5','msg_2085b70d0001xMD5ZA0nz0iX7r','ses_df7a4961affeY6tbQtZggRkEbH',1795436543513,1795436543519,'{"reason":"tool-calls","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085b7f83001U1EU8wLDZRnybb','msg_2085b7e91001NrtLSivZBkSwX8','ses_df7a4961affeY6tbQtZggRkEbH',1795436543875,1795436543881,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085b7f8b001mqjJtUvDzd37YL','msg_2085b7e91001NrtLSivZBkSwX8','ses_df7a4961affeY6tbQtZggRkEbH',1795436543883,1795436543926,'{"type":"tool","tool":"edit","callID":"toolu_0000000000000000000005","state":{"status":"completed","input":{"filePath":"/tmp/git-jp-agents/project/notes.txt","newString":"four","oldString":"three"},"output":"Edit applied successfully.","metadata":{"diagnostics":{},"diff":"Index: /tmp/git-jp-agents/project/notes.txt\n===================================================================\n--- /tmp/git-jp-agents/project/notes.txt\n+++ /tmp/git-jp-agents/project/notes.txt\n@@ -1,3 +1,3 @@\n one\n two\n-three\n+four\n","filediff":{"file":"/tmp/git-jp-agents/project/notes.txt","patch":"Index: /tmp/git-jp-agents/project/notes.txt\n===================================================================\n--- /tmp/git-jp-agents/project/notes.txt\n+++ /tmp/git-jp-agents/project/notes.txt\n@@ -1,3 +1,3 @@\n one\n two\n-three\n+four\n","additions":1,"deletions":1},"truncated":false},"title":"notes.txt","time":{"start":1795436543902,"end":1795436543925}}}');
INSERT INTO part VALUES('prt_2085b80c9001aKg9WQMpHbLMjw','msg_2085b7e91001NrtLSivZBkSwX8','ses_df7a4961affeY6tbQtZggRkEbH',1795436544201,1795436544203,'{"reason":"tool-calls","snapshot":"6d1b5a32cc272b302d12850bdeaf555a33962215","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085b8133001YPdUie0AydwETX','msg_2085b7e91001NrtLSivZBkSwX8','ses_df7a4961affeY6tbQtZggRkEbH',1795436544307,1795436544309,'{"type":"patch","hash":"47392c38b987e9d474555765b45e4f082f506bbb","files":["/tmp/git-jp-agents/project/notes.txt"]}');
INSERT INTO part VALUES('prt_2085b8224001WViyAntDHkw2iV','msg_2085b8142001JlYu6ISRwiTImi','ses_df7a4961affeY6tbQtZggRkEbH',1795436544549,1795436544550,'{"snapshot":"6d1b5a32cc272b302d12850bdeaf555a33962215","type":"step-start"}');
INSERT INTO part VALUES('prt_2085b8227001BOt6Yqpyhv4IpK','msg_2085b8142001JlYu6ISRwiTImi','ses_df7a4961affeY6tbQtZggRkEbH',1795436544551,1795436544630,'{"type":"tool","tool":"bash","callID":"toolu_0000000000000000000007","state":{"status":"completed","input":{"command":"grep -q five notes.txt || exit 3","description":"Runs a command"},"output":"(no output)","metadata":{"output":"(no output)","exit":3,"truncated":false},"title":"grep -q five notes.txt || exit 3","time":{"start":1795436544572,"end":1795436544612}}}');
INSERT INTO part VALUES('prt_2085b833c001oRj9Y6j3FfvtBu','msg_2085b8142001JlYu6ISRwiTImi','ses_df7a4961affeY6tbQtZggRkEbH',1795436544829,1795436544831,'{"reason":"tool-calls","snapshot":"6d1b5a32cc272b302d12850bdeaf555a33962215","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085b84d8001KqLGwinmYSuZOG','msg_2085b8402001o4raU2mA9mr3UJ','ses_df7a4961affeY6tbQtZggRkEbH',1795436545241,1795436545242,'{"snapshot":"6d1b5a32cc272b302d12850bdeaf555a33962215","type":"step-start"}');
INSERT INTO part VALUES('prt_2085b84db0014U1VkRQWKpXqKN','msg_2085b8402001o4raU2mA9mr3UJ','ses_df7a4961affeY6tbQtZggRkEbH',1795436545243,1795436545263,'{"type":"text","text":"It says four now.","time":{"start":1795436545243,"end":1795436545262}}');
INSERT INTO part VALUES('prt_2085b85480018hmTeuXAnAkaZw','msg_2085b8402001o4raU2mA9mr3UJ','ses_df7a4961affeY6tbQtZggRkEbH',1795436545352,1795436545354,'{"reason":"stop","snapshot":"6d1b5a32cc272b302d12850bdeaf555a33962215","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO session VALUES('ses_df7a4961affeY6tbQtZggRkEbH','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'curious-lagoon','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.019560000000000000996,4800,240,0,3200,160,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436538342,1795436545421,NULL,NULL);
COMMIT;
