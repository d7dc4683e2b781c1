-- +goose Up
-- Calls that a rule of the policy let through, by the hour of the clock.
create table call_count (
	key  text   not null, -- the rule, and who calls
	hour bigint not null, -- hours since 1970
	n    bigint not null,
	primary key (key, hour)
);

-- +goose Down
drop table call_count;
