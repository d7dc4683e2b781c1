package child

const (
	sysExecveat = 281
	sysPpoll    = 73
)
