-- +goose Up
-- Keys of providers that rest, because they were refused or have spent what they may.
-- Neither a key nor an address is kept. Times are milliseconds since 1970.
create table cooldown (
	provider text   not null,
	model    text   not null,
	key      text   not null, -- its fingerprint
	until    bigint not null,
	primary key (provider, model, key)
);

-- What was sent to providers, by day.
create table provider_spend (
	account text   not null, -- whose budget it is
	day     bigint not null, -- days since 1970, UTC
	bytes   bigint not null,
	cost    bigint not null, -- millionths of a currency unit
	primary key (account, day)
);

-- +goose Down
drop table provider_spend;
drop table cooldown;
