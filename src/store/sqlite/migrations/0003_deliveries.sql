CREATE TABLE `call_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`call_id` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `call_deliveries_call_id_unique` ON `call_deliveries` (`call_id`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`task_id` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_task_id_unique` ON `deliveries` (`task_id`);--> statement-breakpoint
INSERT INTO `deliveries` (`task_id`) SELECT `id` FROM `tasks_` WHERE `state` = 'done' ORDER BY `id`;--> statement-breakpoint
INSERT INTO `call_deliveries` (`call_id`) SELECT `id` FROM `calls_` ORDER BY `id`;
