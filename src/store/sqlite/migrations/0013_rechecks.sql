CREATE TABLE `rechecks` (
	`run_id` integer PRIMARY KEY NOT NULL,
	`of_run` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rechecks_of_run_unique` ON `rechecks` (`of_run`);