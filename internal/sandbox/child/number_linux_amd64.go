package child

const (
	sysExecveat = 322
	sysPpoll    = 271
)
