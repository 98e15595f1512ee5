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
INSERT INTO project VALUES('2987dd10acdd7d31b5612544b2e5d9415fac000c','/tmp/git-jp-agents/project','git',NULL,NULL,NULL,NULL,1795436769974,1795436769974,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_2085eff38001m0RoVwwOASPCjU','ses_df7a1028dffeanw9GdzlrLCwDj',1795436773183,1795436783851,'{"role":"user","time":{"created":1795436773183},"agent":"build","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085f0bd3001AsmagXkHvm3zHn','ses_df7a1028dffeanw9GdzlrLCwDj',1795436776404,1795436783545,'{"parentID":"msg_2085eff38001m0RoVwwOASPCjU","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436776404,"completed":1795436783544},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_2085f1dcf001DZRbCat0wOx40W','ses_df7a0e255ffeQT370szIqVzy4I',1795436781014,1795436783771,'{"role":"user","time":{"created":1795436781014},"agent":"general","model":{"providerID":"loopback","modelID":"sonnet"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_2085f1e2d001DJzCA5F6avC1bG','ses_df7a0e255ffeQT370szIqVzy4I',1795436781101,1795436782495,'{"parentID":"msg_2085f1dcf001DZRbCat0wOx40W","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436781101,"completed":1795436782492},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_2085f23a50019ERvW7qQeEm4BI','ses_df7a0e255ffeQT370szIqVzy4I',1795436782501,1795436783326,'{"parentID":"msg_2085f1dcf001DZRbCat0wOx40W","role":"assistant","mode":"general","agent":"general","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436782501,"completed":1795436783324},"finish":"stop"}');
INSERT INTO message VALUES('msg_2085f27be001iq2hJzjdycYmDm','ses_df7a1028dffeanw9GdzlrLCwDj',1795436783550,1795436784020,'{"parentID":"msg_2085eff38001m0RoVwwOASPCjU","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/tmp/git-jp-agents/project","root":"/tmp/git-jp-agents/project"},"cost":0.00489,"tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"modelID":"sonnet","providerID":"loopback","time":{"created":1795436783550,"completed":1795436784016},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_2085eff81001bTuYdNJ72wbWGW','msg_2085eff38001m0RoVwwOASPCjU','ses_df7a1028dffeanw9GdzlrLCwDj',1795436776218,1795436776237,'{"type":"text","text":"\"Have the lines counted.\""}');
INSERT INTO part VALUES('prt_2085f1d4d001tB26isBJUkfbp1','msg_2085f0bd3001AsmagXkHvm3zHn','ses_df7a1028dffeanw9GdzlrLCwDj',1795436780878,1795436780883,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085f1d5f001fmOOHAChcohhM6','msg_2085f0bd3001AsmagXkHvm3zHn','ses_df7a1028dffeanw9GdzlrLCwDj',1795436780895,1795436780913,'{"type":"text","text":"A helper does it.","time":{"start":1795436780895,"end":1795436780899}}');
INSERT INTO part VALUES('prt_2085f1d7b0019rS5Dbsx9VOUEl','msg_2085f0bd3001AsmagXkHvm3zHn','ses_df7a1028dffeanw9GdzlrLCwDj',1795436780923,1795436783362,'{"type":"tool","tool":"task","callID":"toolu_0000000000000000000002","state":{"status":"completed","input":{"description":"Counts lines","prompt":"COUNT THEM in notes.txt","subagent_type":"general"},"output":"<task id=\"ses_df7a0e255ffeQT370szIqVzy4I\" state=\"completed\">\n<task_result>\nThree lines.\n</task_result>\n</task>","metadata":{"parentSessionId":"ses_df7a1028dffeanw9GdzlrLCwDj","sessionId":"ses_df7a0e255ffeQT370szIqVzy4I","model":{"modelID":"sonnet","providerID":"loopback"},"truncated":false},"title":"Counts lines","time":{"start":1795436780990,"end":1795436783360}}}');
INSERT INTO part VALUES('prt_2085f1de5001cbNl4AizwjZZR6','msg_2085f1dcf001DZRbCat0wOx40W','ses_df7a0e255ffeQT370szIqVzy4I',1795436781041,1795436781046,'{"type":"text","text":"COUNT THEM in notes.txt"}');
INSERT INTO part VALUES('prt_2085f2014001J40ByNPIVhvS6o','msg_2085f1e2d001DJzCA5F6avC1bG','ses_df7a0e255ffeQT370szIqVzy4I',1795436781589,1795436781590,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085f201b001ktYXv1EQSeA8GU','msg_2085f1e2d001DJzCA5F6avC1bG','ses_df7a0e255ffeQT370szIqVzy4I',1795436781595,1795436781980,'{"type":"tool","tool":"bash","callID":"toolu_0000000000000000000004","state":{"status":"completed","input":{"command":"wc -l notes.txt","description":"Runs a command"},"output":"3 notes.txt\n","metadata":{"output":"3 notes.txt\n","exit":0,"truncated":false},"title":"wc -l notes.txt","time":{"start":1795436781632,"end":1795436781952}}}');
INSERT INTO part VALUES('prt_2085f2272001qeQHkBxWWfkpEM','msg_2085f1e2d001DJzCA5F6avC1bG','ses_df7a0e255ffeQT370szIqVzy4I',1795436782194,1795436782228,'{"reason":"tool-calls","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085f25bf001tW6qNSq7hPCzUm','msg_2085f23a50019ERvW7qQeEm4BI','ses_df7a0e255ffeQT370szIqVzy4I',1795436783039,1795436783044,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085f25c8001YE09319sSYyvWb','msg_2085f23a50019ERvW7qQeEm4BI','ses_df7a0e255ffeQT370szIqVzy4I',1795436783048,1795436783059,'{"type":"text","text":"Three lines.","time":{"start":1795436783048,"end":1795436783057}}');
INSERT INTO part VALUES('prt_2085f264d0015jFjbj2PHCmjWL','msg_2085f23a50019ERvW7qQeEm4BI','ses_df7a0e255ffeQT370szIqVzy4I',1795436783182,1795436783188,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085f275a001UvvEmpgpgB8OaI','msg_2085f0bd3001AsmagXkHvm3zHn','ses_df7a1028dffeanw9GdzlrLCwDj',1795436783450,1795436783456,'{"reason":"tool-calls","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
INSERT INTO part VALUES('prt_2085f2859001dvAr22K1cqK45O','msg_2085f27be001iq2hJzjdycYmDm','ses_df7a1028dffeanw9GdzlrLCwDj',1795436783706,1795436783716,'{"snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-start"}');
INSERT INTO part VALUES('prt_2085f2867001QfKqB1KH1kZofW','msg_2085f27be001iq2hJzjdycYmDm','ses_df7a1028dffeanw9GdzlrLCwDj',1795436783719,1795436783734,'{"type":"text","text":"The helper says three.","time":{"start":1795436783719,"end":1795436783726}}');
INSERT INTO part VALUES('prt_2085f29250014ucliknfJ9tEGM','msg_2085f27be001iq2hJzjdycYmDm','ses_df7a1028dffeanw9GdzlrLCwDj',1795436783910,1795436783911,'{"reason":"stop","snapshot":"47392c38b987e9d474555765b45e4f082f506bbb","type":"step-finish","tokens":{"total":2100,"input":1200,"output":60,"reasoning":0,"cache":{"write":40,"read":800}},"cost":0.00489}');
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
INSERT INTO session VALUES('ses_df7a1028dffeanw9GdzlrLCwDj','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,NULL,'mighty-falcon','/tmp/git-jp-agents/project','','Counting lines','1.18.33',NULL,0,0,0,NULL,NULL,0.0097800000000000004984,2400,120,0,1600,80,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436772723,1795436784039,NULL,NULL);
INSERT INTO session VALUES('ses_df7a0e255ffeQT370szIqVzy4I','2987dd10acdd7d31b5612544b2e5d9415fac000c',NULL,'ses_df7a1028dffeanw9GdzlrLCwDj','happy-canyon','/tmp/git-jp-agents/project','','Counts lines (@general subagent)','1.18.33',NULL,0,0,0,NULL,NULL,0.0097800000000000004984,2400,120,0,1600,80,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"},{"permission":"task","pattern":"*","action":"deny"}]','general','{"id":"sonnet","providerID":"loopback","variant":"default"}',1795436780970,1795436783370,NULL,NULL);
COMMIT;
