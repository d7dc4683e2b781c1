// Package ffmpeg knows the words of ffmpeg and ffprobe: which arguments ask for
// what, and what the answers mean.
//
// It promises that every command it builds reads its input through the granted
// descriptor with protocols limited to "file" and demuxers limited to what the
// content is, that no name or text of a user ever reaches an argument or a filter
// graph, and that a time it reports was read as integer ticks of its stream. It is
// pure: it builds [argv.Command] values and reads what they printed. Work that needs
// several runs is a small state machine ([Prober], [FrameJob], [Measure]) that the
// caller drives: ask Next for a command, run it, give the result to Feed.
//
// It must never know a tool, a path, a policy, or how a program is started.
package ffmpeg
