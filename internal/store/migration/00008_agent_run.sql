-- +goose Up
-- A run of an agent. This row says what it may do, who writes its events and what it has
-- spent. Times are milliseconds since 1970.
create table run (
	id             text   not null primary key,
	space          text   not null, -- the workspace and stage that it belongs to
	parent         text   not null, -- the run that delegated to it; "" for none
	call           text   not null, -- of the parent, that did
	principal_name text   not null,
	principal_role text   not null,
	spec           text   not null, -- JSON
	mac            text   not null, -- of all above, under the installation's key
	state          text   not null,
	reason         text   not null default '', -- of one that failed
	worker         text   not null default '', -- who writes its events
	attempt        bigint not null default 0,  -- raised by each that takes it: its lease
	beat           bigint not null default 0,  -- raised while the worker lives
	cancel         bigint not null default 0,  -- 1: somebody asked to stop it
	steps          bigint not null default 0,  -- what is spent, with the runs that it delegated to
	tokens         bigint not null default 0,
	cost           bigint not null default 0,  -- millionths of a currency unit
	bytes          bigint not null default 0,
	created        bigint not null,
	started        bigint not null default 0,
	finished       bigint not null default 0
);
create index run_by_space on run (space, created);
create index run_by_parent on run (parent);

-- What happened in a run, in order. A row is stored before anybody sees it, and never
-- changed.
create table agent_run_event (
	run_id  text   not null,
	seq     bigint not null, -- from 1, without gaps
	type    text   not null,
	at      bigint not null,
	payload text   not null, -- JSON
	primary key (run_id, seq)
);

-- +goose Down
drop table agent_run_event;
drop table run;
