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
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436631285,1795436692714,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085d01a9001R7PTI0M7fZ1Vxy','ses_df7a3075effeczo0onsuanrdLy',1795436642729,1795436665041,'{"role":"user","time":{"created":1795436642729},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085d3d89001ylurWr8bPnk7tI','ses_df7a3075effeczo0onsuanrdLy',1795436658057,1795436674041,'{"parentID":"msg_2085d01a9001R7PTI0M7fZ1Vxy","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436658057,"completed":1795436674013},"finish":"stop"}');
INSERT INTO message VALUES('msg_2085df2d2001t8FdzrCRhNM2Ob','ses_df7a20d81ffeXggHiu7E20aRez',1795436642729,1795436704485,'{"role":"user","time":{"created":1795436642729},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085e1a63001lAYfE26NOCxdwP','ses_df7a20d81ffeXggHiu7E20aRez',1795436658057,1795436714712,'{"parentID":"msg_2085df2d2001t8FdzrCRhNM2Ob","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436658057,"completed":1795436674013},"finish":"stop"}');
INSERT INTO message VALUES('msg_2085e20ef001GSQ4a6689xhFIA','ses_df7a20d81ffeXggHiu7E20aRez',1795436716271,1795436720866,'{"role":"user","time":{"created":1795436716271},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085e244f001vMY3HW8uRDGrvs','ses_df7a20d81ffeXggHiu7E20aRez',1795436717135,1795436732918,'{"parentID":"msg_2085e20ef001GSQ4a6689xhFIA","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436717135,"completed":1795436732906},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085d02a1001o0bdstDN8Gaolb','msg_2085d01a9001R7PTI0M7fZ1Vxy','ses_df7a3075effeczo0onsuanrdLy',1795436657633,1795436657667,'{"type":"text","text":"\"The first question.\""}');
INSERT INTO part VALUES('prt_2085d76de001nqb2t1oZWqqQ6D','msg_2085d3d89001ylurWr8bPnk7tI','ses_df7a3075effeczo0onsuanrdLy',1795436672734,1795436672769,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085d7717001eDwTXl8pFGGC5Z','msg_2085d3d89001ylurWr8bPnk7tI','ses_df7a3075effeczo0onsuanrdLy',1795436672791,1795436672852,'{"type":"text","text":"The first answer.","time":{"start":1795436672791,"end":1795436672830}}');
INSERT INTO part VALUES('prt_2085d7a55001lVI4VEtOfIQEUp','msg_2085d3d89001ylurWr8bPnk7tI','ses_df7a3075effeczo0onsuanrdLy',1795436673621,1795436673642,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085e1a13001q5aeuZqY9t2xSD','msg_2085df2d2001t8FdzrCRhNM2Ob','ses_df7a20d81ffeXggHiu7E20aRez',1795436714553,1795436714594,'{"type":"text","text":"\"The first question.\""}');
INSERT INTO part VALUES('prt_2085e1ada001v9YxH7sqOPKnmB','msg_2085e1a63001lAYfE26NOCxdwP','ses_df7a20d81ffeXggHiu7E20aRez',1795436714714,1795436714715,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085e1b1e001789MNmkizQtekP','msg_2085e1a63001lAYfE26NOCxdwP','ses_df7a20d81ffeXggHiu7E20aRez',1795436714782,1795436714823,'{"type":"text","text":"The first answer.","time":{"start":1795436672791,"end":1795436672830}}');
INSERT INTO part VALUES('prt_2085e1b7e0012ETID5fLiPxORt','msg_2085e1a63001lAYfE26NOCxdwP','ses_df7a20d81ffeXggHiu7E20aRez',1795436714878,1795436714942,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085e21ef0017MHPuG9ROQqlv9','msg_2085e20ef001GSQ4a6689xhFIA','ses_df7a20d81ffeXggHiu7E20aRez',1795436716708,1795436716711,'{"type":"text","text":"\"A question of the fork.\""}');
INSERT INTO part VALUES('prt_2085e60860015Z3lO5g0DMRYvX','msg_2085e244f001vMY3HW8uRDGrvs','ses_df7a20d81ffeXggHiu7E20aRez',1795436732550,1795436732558,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085e6090001MBq5KkPyBkVIvf','msg_2085e244f001vMY3HW8uRDGrvs','ses_df7a20d81ffeXggHiu7E20aRez',1795436732560,1795436732591,'{"type":"text","text":"The answer of the fork.","time":{"start":1795436732560,"end":1795436732576}}');
INSERT INTO part VALUES('prt_2085e61570015OBz2vLkHeEA7z','msg_2085e244f001vMY3HW8uRDGrvs','ses_df7a20d81ffeXggHiu7E20aRez',1795436732759,1795436732762,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
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
INSERT INTO session VALUES('ses_df7a3075effeczo0onsuanrdLy','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'quiet-river','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.0048900000000000002492,1200,60,0,800,40,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436640417,1795436674125,NULL,NULL);
INSERT INTO session VALUES('ses_df7a20d81ffeXggHiu7E20aRez','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'kind-garden','/tmp/git-jp-agents/project','','Counting lines (fork #1)','1.18.33',NULL,0,0,0,NULL,NULL,0.0097800000000000004984,2400,120,0,1600,80,NULL,NULL,'build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436704382,1795436732962,NULL,NULL);
COMMIT;
