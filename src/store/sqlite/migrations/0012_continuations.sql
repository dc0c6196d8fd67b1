CREATE TABLE `continuations` (
	`run_id` integer NOT NULL,
	`query_id` integer NOT NULL,
	`former_id` integer NOT NULL,
	PRIMARY KEY(`run_id`, `query_id`)
) WITHOUT ROWID;
