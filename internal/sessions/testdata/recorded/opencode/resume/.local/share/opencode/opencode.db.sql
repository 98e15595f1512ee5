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
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436569534,1795436588290,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085beac3001zhMss1ZKdc6emI','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436571331,1795436574833,'{"role":"user","time":{"created":1795436571331},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085bf345001HKBL5NqcDVJy7f','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436573509,1795436578874,'{"parentID":"msg_2085beac3001zhMss1ZKdc6emI","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436573509,"completed":1795436578872},"finish":"stop"}');
INSERT INTO message VALUES('msg_2085c3d60001LIKScWWtfCylLm','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436592480,1795436597700,'{"role":"user","time":{"created":1795436592480},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085c4e3b0011FDNKV5iPGBaZA','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436596795,1795436603062,'{"parentID":"msg_2085c3d60001LIKScWWtfCylLm","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436596795,"completed":1795436603053},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085beada001W4m3Z2k4kkm7sz','msg_2085beac3001zhMss1ZKdc6emI','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436573405,1795436573410,'{"type":"text","text":"\"The first question.\""}');
INSERT INTO part VALUES('prt_2085c0562001g4GQps8zJnp7AQ','msg_2085bf345001HKBL5NqcDVJy7f','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436578146,1795436578156,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085c056e001dN4YG0K008EtGZ','msg_2085bf345001HKBL5NqcDVJy7f','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436578159,1795436578184,'{"type":"text","text":"The first answer.","time":{"start":1795436578159,"end":1795436578172}}');
INSERT INTO part VALUES('prt_2085c068a001W7VRHhd2W2f4WY','msg_2085bf345001HKBL5NqcDVJy7f','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436578444,1795436578461,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085c3d6c001yNmIAA2snd1nW5','msg_2085c3d60001LIKScWWtfCylLm','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436596658,1795436596663,'{"type":"text","text":"\"The second question.\""}');
INSERT INTO part VALUES('prt_2085c63cb00158KjgOFirG2bUr','msg_2085c4e3b0011FDNKV5iPGBaZA','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436602316,1795436602332,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085c63de001DO0JQnw0YCflvq','msg_2085c4e3b0011FDNKV5iPGBaZA','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436602334,1795436602365,'{"type":"text","text":"The second answer.","time":{"start":1795436602334,"end":1795436602360}}');
INSERT INTO part VALUES('prt_2085c6536001SnBK8FrRsrH5Od','msg_2085c4e3b0011FDNKV5iPGBaZA','ses_df7a41678ffez2KLSUKGRE6Yaf',1795436602682,1795436602687,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
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
INSERT INTO session VALUES('ses_df7a41678ffez2KLSUKGRE6Yaf','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'quick-wizard','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.0097800000000000004984,2400,120,0,1600,80,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436571015,1795436603157,NULL,NULL);
COMMIT;
