-- +goose Up
-- Bearer tokens of the server. The token itself is not kept. Times are milliseconds
-- since 1970.
create table token (
	id             text   not null primary key,
	hash           text   not null unique, -- SHA-256 of the token
	label          text   not null,
	principal_name text   not null,
	principal_role text   not null,
	scopes         text   not null, -- with spaces between
	created        bigint not null,
	created_by     text   not null,
	expires        bigint not null,
	mac            text   not null, -- of all above, under the installation's key
	used           bigint not null default 0,
	revoked        bigint not null default 0
);

-- +goose Down
drop table token;
