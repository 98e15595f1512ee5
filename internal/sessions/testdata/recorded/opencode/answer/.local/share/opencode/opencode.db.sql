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
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436532996,1795436532996,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085b58d90011L75MQgdDqYMzS','ses_df7a4a7a6ffeZOjh9P4RkLa4Gs',1795436533977,1795436535025,'{"role":"user","time":{"created":1795436533977},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085b5c16001FndKC6UTvP0zzF','ses_df7a4a7a6ffeZOjh9P4RkLa4Gs',1795436534807,1795436535826,'{"parentID":"msg_2085b58d90011L75MQgdDqYMzS","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436534807,"completed":1795436535824},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085b58e200192HVN13sMLdkMz','msg_2085b58d90011L75MQgdDqYMzS','ses_df7a4a7a6ffeZOjh9P4RkLa4Gs',1795436534784,1795436534790,'{"type":"text","text":"\"How many lines has notes.txt?\""}');
INSERT INTO part VALUES('prt_2085b5fac00178ZBuOmwWtDZxx','msg_2085b5c16001FndKC6UTvP0zzF','ses_df7a4a7a6ffeZOjh9P4RkLa4Gs',1795436535724,1795436535726,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085b5fb0001IxnB6MxDE1cU55','msg_2085b5c16001FndKC6UTvP0zzF','ses_df7a4a7a6ffeZOjh9P4RkLa4Gs',1795436535728,1795436535734,'{"type":"reasoning","text":"Three, I think.","time":{"start":1795436535728,"end":1795436535733},"metadata":{"anthropic":{"signature":"c2lnbmVkIGJ5IGEgc2NyaXB0"}}}');
INSERT INTO part VALUES('prt_2085b5fb7001ZIZZGR3A3m1org','msg_2085b5c16001FndKC6UTvP0zzF','ses_df7a4a7a6ffeZOjh9P4RkLa4Gs',1795436535735,1795436535740,'{"type":"text","text":"There are three lines.","time":{"start":1795436535735,"end":1795436535739}}');
INSERT INTO part VALUES('prt_2085b5feb001IO4bkunKwNiq3N','msg_2085b5c16001FndKC6UTvP0zzF','ses_df7a4a7a6ffeZOjh9P4RkLa4Gs',1795436535787,1795436535789,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
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
INSERT INTO session VALUES('ses_df7a4a7a6ffeZOjh9P4RkLa4Gs','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'quiet-nebula','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.0048900000000000002492,1200,60,0,800,40,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436533850,1795436535833,NULL,NULL);
COMMIT;
