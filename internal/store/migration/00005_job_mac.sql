-- +goose Up
-- What a job was called with is believed only under the installation's key.
alter table job add column mac text not null default '';

-- +goose Down
alter table job drop column mac;
