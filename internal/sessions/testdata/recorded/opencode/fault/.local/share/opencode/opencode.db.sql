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
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436554543,1795436554543,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085bb15a001uOVoGgNILQ72Fi','ses_df7a44fbaffen366VLnb2NEfPf',1795436556634,1795436559366,'{"role":"user","time":{"created":1795436556634},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085bb807001aTn6BIs7e1Wx0o','ses_df7a44fbaffen366VLnb2NEfPf',1795436558343,1795436563180,'{"parentID":"msg_2085bb15a001uOVoGgNILQ72Fi","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436558343,"completed":1795436563170},"error":{"name":"APIError","data":{"message":"the prompt is not to the taste of this server","statusCode":400,"isRetryable":false,"responseHeaders":{"content-length":"126","content-type":"application/json","date":"Mon, 23 Nov 2026 12:22:42 GMT"},"responseBody":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"code\":400,\"message\":\"the prompt is not to the taste of this server\"}}","metadata":{"url":"http://127.0.0.1:35343/v1/messages"}}}}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085bb17a001Uc0lkXhnoSu4OI','msg_2085bb15a001uOVoGgNILQ72Fi','ses_df7a44fbaffen366VLnb2NEfPf',1795436558325,1795436558328,'{"type":"text","text":"\"This is not to your taste.\""}');
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
INSERT INTO session VALUES('ses_df7a44fbaffen366VLnb2NEfPf','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'kind-wolf','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.0,0,0,0,0,0,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436556357,1795436559324,NULL,NULL);
COMMIT;
