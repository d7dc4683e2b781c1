-- +goose Up
-- What was done or refused, one row each. A row is never changed: its hash covers every
-- column and the hash of the row before. Times are milliseconds since 1970.
create table audit_event (
	seq            bigint not null primary key, -- from 1, without gaps
	at             bigint not null,
	type           text   not null,
	call_id        text   not null,
	parent_id      text   not null, -- of the call whose body made this one
	principal_name text   not null,
	principal_role text   not null,
	tool           text   not null,
	revision       bigint not null,
	kind           text   not null,
	input          text   not null, -- SHA-256
	output         text   not null, -- SHA-256
	decision       text   not null,
	reason         text   not null,
	approval_id    text   not null,
	grant_id       text   not null,
	outcome        text   not null,
	run            text   not null,
	elapsed_ms     bigint not null,
	detail         text   not null,
	hash           text   not null
);
create index audit_event_by_call on audit_event (call_id);
create index audit_event_by_parent on audit_event (parent_id);
create index audit_event_by_time on audit_event (at);

-- The end of the chain, one row: who appends locks it.
create table audit_head (
	id          bigint not null primary key, -- 1
	chain       text   not null,             -- names this chain
	seq         bigint not null,
	hash        text   not null,
	anchored    bigint not null,             -- seq of the last anchor
	anchored_at bigint not null
);

-- What was so when it was last looked at: a change of it is a row of the audit.
create table audit_mark (
	name  text not null primary key,
	value text not null
);

-- Calls that are at work, and those that must not be made twice.
create table operation (
	key            text   not null primary key,
	call_id        text   not null,
	tool           text   not null,
	revision       bigint not null,
	principal_name text   not null,
	principal_role text   not null,
	never          bigint not null, -- 1: may not be made twice; the row stays
	input          text   not null,
	state          text   not null, -- as cutroom.OperationState
	started        bigint not null,
	until          bigint not null, -- when the call has ended in any case
	finished       bigint not null,
	swept          bigint not null, -- 1: that it was cut off is in the audit
	run            text   not null,
	output         text   not null,
	failure        text   not null,
	note           text   not null
);
create index operation_by_state on operation (state, until);

-- +goose Down
drop table operation;
drop table audit_mark;
drop table audit_head;
drop table audit_event;
