package child

// Numbers of calls that package syscall does not have.
const (
	sysExecveat        = 322
	sysPpoll           = 271
	sysBpf             = 321
	sysUserfaultfd     = 323
	sysPerfEventOpen   = 298
	sysKeyctl          = 250
	sysAddKey          = 248
	sysOpenByHandleAt  = 304
	sysMemfdCreate     = 319
	sysProcessVMReadv  = 310
	sysProcessVMWritev = 311
	sysSetns           = 308
	sysFinitModule     = 313
	sysKcmp            = 312
)
