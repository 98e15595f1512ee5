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
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436795104,1795436808947,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085f58bd001W9hmiFarSP4gL4','ses_df7a0a8feffeDwgVkygurgef1v',1795436796093,1795436803229,'{"role":"user","time":{"created":1795436796093},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085f608e001n5c5K74TVh2s28','ses_df7a0a8feffeDwgVkygurgef1v',1795436798094,1795436802620,'{"parentID":"msg_2085f58bd001W9hmiFarSP4gL4","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436798094,"completed":1795436802607},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_2085f724a001fQdZIijwWatmBf','ses_df7a0a8feffeDwgVkygurgef1v',1795436802634,1795436802635,'{"parentID":"msg_2085f58bd001W9hmiFarSP4gL4","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436802634}}');
INSERT INTO message VALUES('msg_2085f97cb001AQzfCLLXI8ocv4','ses_df7a0a8feffeDwgVkygurgef1v',1795436812235,1795436816920,'{"role":"user","time":{"created":1795436812235},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085fa68f001qgTH7UE5X9bCzU','ses_df7a0a8feffeDwgVkygurgef1v',1795436816015,1795436837609,'{"parentID":"msg_2085f97cb001AQzfCLLXI8ocv4","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436816015,"completed":1795436837573},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085f58cc001SAtjw0Tp7bqzDS','msg_2085f58bd001W9hmiFarSP4gL4','ses_df7a0a8feffeDwgVkygurgef1v',1795436798051,1795436798055,'{"type":"text","text":"\"Look and die.\""}');
INSERT INTO part VALUES('prt_2085f6d70001W563hOx99tO463','msg_2085f608e001n5c5K74TVh2s28','ses_df7a0a8feffeDwgVkygurgef1v',1795436801396,1795436801404,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085f6d7d001R5o6QtlZ6611x2','msg_2085f608e001n5c5K74TVh2s28','ses_df7a0a8feffeDwgVkygurgef1v',1795436801406,1795436801421,'{"type":"text","text":"I look.","time":{"start":1795436801406,"end":1795436801417}}');
INSERT INTO part VALUES('prt_2085f6d92001u1XSVQvcl1bNRd','msg_2085f608e001n5c5K74TVh2s28','ses_df7a0a8feffeDwgVkygurgef1v',1795436801427,1795436801749,'{"type":"tool","tool":"bash","callID":"toolu_0000000000000000000002","state":{"status":"completed","input":{"command":"wc -l notes.txt","description":"Runs a command"},"output":"3 notes.txt\n","metadata":{"output":"3 notes.txt\n","exit":0,"truncated":false},"title":"wc -l notes.txt","time":{"start":1795436801466,"end":1795436801746}}}');
INSERT INTO part VALUES('prt_2085f70610018ZtbIgW5JlpU5d','msg_2085f608e001n5c5K74TVh2s28','ses_df7a0a8feffeDwgVkygurgef1v',1795436802145,1795436802167,'{"reason":"tool-calls","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085f74d90014JaCCecxmMzgVd','msg_2085f724a001fQdZIijwWatmBf','ses_df7a0a8feffeDwgVkygurgef1v',1795436803289,1795436803295,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085f74e0001iFP2GemOWQeRPd','msg_2085f724a001fQdZIijwWatmBf','ses_df7a0a8feffeDwgVkygurgef1v',1795436803296,1795436803313,'{"type":"text","text":"There","time":{"start":1795436803296,"end":1795436803311}}');
INSERT INTO part VALUES('prt_2085f97e40016tVRoL1DXlE1G9','msg_2085f97cb001AQzfCLLXI8ocv4','ses_df7a0a8feffeDwgVkygurgef1v',1795436815870,1795436815878,'{"type":"text","text":"\"Go on where you were.\""}');
INSERT INTO part VALUES('prt_2085fe874001veVPzdHP4i3h2z','msg_2085fa68f001qgTH7UE5X9bCzU','ses_df7a0a8feffeDwgVkygurgef1v',1795436832884,1795436833030,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085fe993001fdsqhTZy7Jj1n2','msg_2085fa68f001qgTH7UE5X9bCzU','ses_df7a0a8feffeDwgVkygurgef1v',1795436833171,1795436833415,'{"type":"text","text":"Gone on.","time":{"start":1795436833171,"end":1795436833346}}');
INSERT INTO part VALUES('prt_2085ff32b001sMkwXNKMQGoMXL','msg_2085fa68f001qgTH7UE5X9bCzU','ses_df7a0a8feffeDwgVkygurgef1v',1795436835679,1795436835722,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
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
INSERT INTO session VALUES('ses_df7a0a8feffeDwgVkygurgef1v','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'silent-mountain','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.0097800000000000004984,2400,120,0,1600,80,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436795649,1795436838660,NULL,NULL);
COMMIT;
