-- +goose Up
-- A job is a stored call. This row is the truth about it; the queue's own tables only
-- say whose turn it is. Times are milliseconds since 1970.
create table job (
	id              text   primary key,
	space           text   not null, -- the workspace and stage that it belongs to
	tool            text   not null,
	input           text   not null,
	principal_name  text   not null,
	principal_role  text   not null,
	timeout_ms      bigint not null,
	state           text   not null, -- as cutroom.JobState
	worker          text   not null default '', -- who is at it
	attempt         bigint not null default 0,  -- raised by each worker that takes it: its lease
	cancel          bigint not null default 0,  -- 1: somebody asked to stop it
	created         bigint not null,
	started         bigint not null default 0,
	finished        bigint not null default 0,
	progress        text   not null default '',
	run             text   not null default '', -- of the recorded result
	output          text   not null default '', -- of a result that was not recorded
	failure         text   not null default ''
);
create index job_by_space on job (space, created);
create index job_by_worker on job (worker, state);

-- A process that works jobs, for as long as its heart beats.
create table worker (
	id    text   primary key,
	space text   not null,
	beat  bigint not null
);

-- +goose Down
drop table worker;
drop table job;
