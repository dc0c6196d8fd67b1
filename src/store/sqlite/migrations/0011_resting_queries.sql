CREATE TABLE `resting_queries` (
	`run_id` integer NOT NULL,
	`query_id` integer NOT NULL,
	`last_run` integer NOT NULL,
	PRIMARY KEY(`run_id`, `query_id`)
) WITHOUT ROWID;
