package ffmpeg

// RecallAbilities returns abilities that were read earlier and kept as lists by
// kind: filters, encoders, decoders, bsfs. version is the version alone or the
// whole version line.
func RecallAbilities(version string, lists map[string][]string) Abilities {
	if m := versionLine.FindStringSubmatch(version); m != nil {
		version = m[1]
	}
	a := Abilities{
		Version: version, Filters: lists["filters"], Encoders: lists["encoders"],
		Decoders: lists["decoders"], BSFs: lists["bsfs"],
	}
	a.Major, a.Minor = versionNumber(version)
	a.index()
	return a
}
