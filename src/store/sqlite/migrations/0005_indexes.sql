DROP INDEX `calls_run`;--> statement-breakpoint
CREATE INDEX `calls_run` ON `calls_` (`run_id`);--> statement-breakpoint
DROP INDEX `tasks_next`;--> statement-breakpoint
DROP INDEX `tasks_answer`;--> statement-breakpoint
CREATE INDEX `tasks_state` ON `tasks_` (`run_id`,`state`) WHERE state = 'accepted' or state = 'answered' or state = 'done' or state = 'failed' or state = 'skipped';--> statement-breakpoint
CREATE INDEX `tasks_next` ON `tasks_` (`run_id`,`ready`,`round`,"priority" desc,`id`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `tasks_answer` ON `tasks_` (`answer_id`) WHERE answer_id is not null;