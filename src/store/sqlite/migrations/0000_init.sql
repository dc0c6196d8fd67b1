CREATE TABLE `answers_` (
	`id` integer PRIMARY KEY NOT NULL,
	`query_id` integer NOT NULL,
	`page` integer NOT NULL,
	`run_id` integer NOT NULL,
	`call_id` integer NOT NULL,
	`fetched_at` integer NOT NULL,
	`normaliser` integer,
	`total_results` integer,
	`time_taken` real,
	`notice` integer,
	`has_next_page` integer,
	`next_page` integer,
	`search_parameters` integer,
	`knowledge_graph` integer,
	`ai_markdown` integer,
	`ai_blocks` integer,
	`malformed` text
);
--> statement-breakpoint
CREATE INDEX `answers_query` ON `answers_` (`query_id`,`page`,`fetched_at`);--> statement-breakpoint
CREATE TABLE `async_jobs` (
	`task_id` integer PRIMARY KEY NOT NULL,
	`call_id` integer NOT NULL,
	`job_id` text NOT NULL,
	`accepted_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `calls_` (
	`id` integer PRIMARY KEY NOT NULL,
	`run_id` integer,
	`task_id` integer,
	`operation` text NOT NULL,
	`sent_at` integer NOT NULL,
	`finished_at` integer,
	`http_status` integer,
	`outcome` text,
	`billed` integer,
	`credits` integer NOT NULL,
	`latency_ms` integer,
	`error` text
);
--> statement-breakpoint
CREATE INDEX `calls_run` ON `calls_` (`run_id`,`billed`);--> statement-breakpoint
CREATE INDEX `calls_sent` ON `calls_` (`sent_at`);--> statement-breakpoint
CREATE INDEX `calls_open` ON `calls_` (`id`) WHERE outcome is null;--> statement-breakpoint
CREATE TABLE `dated_details` (
	`answer_id` integer NOT NULL,
	`kind` integer NOT NULL,
	`place` integer NOT NULL,
	`date_id` integer,
	`published_at` integer,
	`channel_id` integer,
	`duration_id` integer,
	`duration_seconds` integer,
	`video_id` text,
	PRIMARY KEY(`answer_id`, `kind`, `place`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `hosts` (
	`id` integer PRIMARY KEY NOT NULL,
	`host` text NOT NULL,
	`site` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hosts_host_unique` ON `hosts` (`host`);--> statement-breakpoint
CREATE TABLE `image_details` (
	`answer_id` integer NOT NULL,
	`kind` integer NOT NULL,
	`place` integer NOT NULL,
	`image_link_id` integer,
	`thumbnail_id` integer,
	`width` integer,
	`height` integer,
	PRIMARY KEY(`answer_id`, `kind`, `place`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `jobs` (
	`name` text PRIMARY KEY NOT NULL,
	`file` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `links` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` integer NOT NULL,
	`link` text NOT NULL,
	`same_as` integer,
	`host_id` integer
);
--> statement-breakpoint
CREATE INDEX `links_hash` ON `links` (`hash`);--> statement-breakpoint
CREATE TABLE `observations` (
	`run_id` integer NOT NULL,
	`query_id` integer NOT NULL,
	`target_id` integer NOT NULL,
	`observed_at` integer NOT NULL,
	`state` text NOT NULL,
	`rank` integer,
	`exactness` text,
	`depth` integer NOT NULL,
	`link_id` integer,
	`title_id` integer,
	PRIMARY KEY(`run_id`, `query_id`, `target_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `queries` (
	`id` integer PRIMARY KEY NOT NULL,
	`key` blob NOT NULL,
	`operation` text NOT NULL,
	`text` text NOT NULL,
	`params` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `queries_key_unique` ON `queries` (`key`);--> statement-breakpoint
CREATE TABLE `raw_answers` (
	`answer_id` integer PRIMARY KEY NOT NULL,
	`encoding` text NOT NULL,
	`body` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `results` (
	`answer_id` integer NOT NULL,
	`kind` integer NOT NULL,
	`place` integer NOT NULL,
	`position` integer,
	`link_id` integer,
	`title_id` integer,
	`snippet_id` integer,
	`source_id` integer,
	`displayed_link_id` integer,
	`matched_id` integer,
	PRIMARY KEY(`answer_id`, `kind`, `place`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `run_queries` (
	`run_id` integer NOT NULL,
	`query_id` integer NOT NULL,
	`depth` integer,
	`pages` integer NOT NULL,
	`page_size` integer,
	`volume` real,
	`url` text,
	`tags` text NOT NULL,
	`labels` text NOT NULL,
	`targets` text NOT NULL,
	`plan_number` integer NOT NULL,
	`paging_end` text,
	`paging_final` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`run_id`, `query_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `run_targets` (
	`run_id` integer NOT NULL,
	`target_id` integer NOT NULL,
	`label` text NOT NULL,
	`own` integer NOT NULL,
	`everywhere` integer NOT NULL,
	PRIMARY KEY(`run_id`, `target_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `runs_` (
	`id` integer PRIMARY KEY NOT NULL,
	`job` text NOT NULL,
	`group_id` integer NOT NULL,
	`settings` text NOT NULL,
	`date` text NOT NULL,
	`started_at` integer NOT NULL,
	`finished_at` integer,
	`finish_reason` text,
	`closed_at` integer,
	`plan_number` integer NOT NULL,
	`planned_min` integer NOT NULL,
	`planned_max` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `runs_job` ON `runs_` (`job`,`id`);--> statement-breakpoint
CREATE INDEX `runs_group` ON `runs_` (`group_id`);--> statement-breakpoint
CREATE TABLE `targets` (
	`id` integer PRIMARY KEY NOT NULL,
	`site` text NOT NULL,
	`match` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `targets_site` ON `targets` (`site`,`match`);--> statement-breakpoint
CREATE TABLE `tasks_` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` integer NOT NULL,
	`query_id` integer NOT NULL,
	`page` integer NOT NULL,
	`state` text NOT NULL,
	`ready` integer NOT NULL,
	`priority` integer NOT NULL,
	`credits` integer NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`round` integer DEFAULT 0 NOT NULL,
	`answer_id` integer,
	`reused` integer DEFAULT 0 NOT NULL,
	`rank_base` integer DEFAULT 0 NOT NULL,
	`ranks` text,
	`cause` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tasks_query_page` ON `tasks_` (`run_id`,`query_id`,`page`);--> statement-breakpoint
CREATE INDEX `tasks_next` ON `tasks_` (`run_id`,`state`,`ready`,`round`,"priority" desc,`id`);--> statement-breakpoint
CREATE INDEX `tasks_answer` ON `tasks_` (`answer_id`);--> statement-breakpoint
CREATE TABLE `texts` (
	`id` integer PRIMARY KEY NOT NULL,
	`hash` integer NOT NULL,
	`text` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `texts_hash` ON `texts` (`hash`);--> statement-breakpoint
CREATE TABLE `usage_readings` (
	`id` integer PRIMARY KEY NOT NULL,
	`run_id` integer,
	`key_hash` text NOT NULL,
	`read_at` integer NOT NULL,
	`remaining` integer,
	`total_used` integer,
	`record` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `usage_key` ON `usage_readings` (`key_hash`,`read_at`);