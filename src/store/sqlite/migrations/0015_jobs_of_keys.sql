CREATE TABLE `shared_jobs` (
	`key_hash` text NOT NULL,
	`job` text NOT NULL,
	`name` text NOT NULL,
	`own` integer NOT NULL,
	PRIMARY KEY(`key_hash`, `job`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `shared_jobs_name` ON `shared_jobs` (`name`);