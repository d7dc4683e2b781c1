-- +goose Up
-- A request for a person's approval and what became of it. Who may do what follows
-- from the signature, never from the state alone. Times are milliseconds since 1970.
create table approval (
	id             text   primary key, -- derived from bound and round
	bound          text   not null, -- digest of everything that it is bound to
	round          bigint not null, -- how often the same call was asked for before
	state          text   not null, -- as cutroom.ApprovalState
	principal_name text   not null,
	principal_role text   not null,
	workspace      text   not null,
	tool           text   not null,
	call           text   not null, -- what it is bound to, to say what differs
	input          text   not null, -- the request, to show its sheet again
	plan_first     bigint not null,
	why            text   not null,
	sheet          text   not null,
	requested      bigint not null,
	expires        bigint not null, -- of the request, then of the approval
	decided        bigint not null default 0,
	decided_by     text   not null default '',
	decided_role   text   not null default '',
	signed_by      text   not null default '', -- fingerprint of the key
	signature      text   not null default '',
	ended          bigint not null default 0,
	run            text   not null default '', -- of the call that spent it
	unique (bound, round)
);
create index approval_by_state on approval (state, requested);
create index approval_by_tool on approval (tool, state, decided);

-- A standing permission. used is the only column that changes, besides revoked.
create table automation_grant (
	id         text   primary key,
	principal  text   not null,
	workspace  text   not null,
	tools      text   not null, -- lists are JSON
	beneath    text   not null,
	bounds     text   not null,
	overwrite  bigint not null,
	origins    text   not null,
	max_bytes  bigint not null,
	uses       bigint not null,
	created    bigint not null,
	expires    bigint not null,
	created_by text   not null,
	signed_by  text   not null,
	signature  text   not null,
	used       bigint not null default 0,
	revoked    bigint not null default 0
);
create index automation_grant_by_workspace on automation_grant (workspace, expires);

-- The newest time that was ever recorded here: a clock before it was set back.
create table approval_clock (
	id     bigint primary key,
	newest bigint not null
);
insert into approval_clock (id, newest) values (1, 0);

-- +goose Down
drop table approval_clock;
drop table automation_grant;
drop table approval;
