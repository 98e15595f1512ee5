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
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436740308,1795436740308,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085e9ac6001NbJmUklPr5IRBm','ses_df7a1678dffebzswR7MQXIfu8E',1795436747462,1795436754464,'{"role":"user","time":{"created":1795436747462},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085eae91001fzpXRWi6sp1JFY','ses_df7a1678dffebzswR7MQXIfu8E',1795436752529,1795436757967,'{"parentID":"msg_2085e9ac6001NbJmUklPr5IRBm","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436752529,"completed":1795436757965},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085eac1f0018vcEV4ylyIz1n0','msg_2085e9ac6001NbJmUklPr5IRBm','ses_df7a1678dffebzswR7MQXIfu8E',1795436752205,1795436752226,'{"type":"text","synthetic":true,"text":"Called the Read tool with the following input: {\"filePath\":\"/tmp/git-jp-agents/project/dot.png\"}"}');
INSERT INTO part VALUES('prt_2085eac1f002L9UGICkuQ9rUJe','msg_2085e9ac6001NbJmUklPr5IRBm','ses_df7a1678dffebzswR7MQXIfu8E',1795436752228,1795436752257,'{"type":"text","synthetic":true,"text":"Image read successfully"}');
INSERT INTO part VALUES('prt_2085eac1f003wz1OIP3TE2xqmo','msg_2085e9ac6001NbJmUklPr5IRBm','ses_df7a1678dffebzswR7MQXIfu8E',1795436752258,1795436752259,'{"type":"file","mime":"image/png","url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC","synthetic":true,"filename":"dot.png"}');
INSERT INTO part VALUES('prt_2085eac1f0042KAiRAsvWKMSNh','msg_2085e9ac6001NbJmUklPr5IRBm','ses_df7a1678dffebzswR7MQXIfu8E',1795436752278,1795436752280,'{"type":"text","text":"\"Name the colour of this dot.\""}');
INSERT INTO part VALUES('prt_2085ec1a6001GdgsBeml2YNGXN','msg_2085eae91001fzpXRWi6sp1JFY','ses_df7a1678dffebzswR7MQXIfu8E',1795436757414,1795436757420,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085ec1b1001C8N3KQDrqAaCVo','msg_2085eae91001fzpXRWi6sp1JFY','ses_df7a1678dffebzswR7MQXIfu8E',1795436757425,1795436757434,'{"type":"text","text":"The dot is red.","time":{"start":1795436757425,"end":1795436757433}}');
INSERT INTO part VALUES('prt_2085ec2dc001o6h8h2pr0YEIiH','msg_2085eae91001fzpXRWi6sp1JFY','ses_df7a1678dffebzswR7MQXIfu8E',1795436757732,1795436757735,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
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
INSERT INTO session VALUES('ses_df7a1678dffebzswR7MQXIfu8E','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'silent-river','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.0048900000000000002492,1200,60,0,800,40,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436746866,1795436758003,NULL,NULL);
COMMIT;
