package picture

import "slices"

// Blocks of a GIF.
const (
	gifExtension = 0x21
	gifImage     = 0x2c
	gifEnd       = 0x3b

	gifText        = 0x01
	gifControl     = 0xf9
	gifApplication = 0xff
)

// gifOwn are the applications whose extensions belong to the picture: how often an
// animation runs, and the colour profile.
var gifOwn = []string{"NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"}

// cleanGIF keeps the frames, how they follow each other, and the colour profile.
func cleanGIF(data []byte) ([]byte, error) {
	rest := data
	head, err := cut(&rest, 13)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(data)), head...)
	colours, err := cut(&rest, colourTable(head[10]))
	if err != nil {
		return nil, err
	}
	out = append(out, colours...)
	for len(rest) > 0 {
		whole := rest
		kind, _ := cut(&rest, 1)
		keep := true
		switch kind[0] {
		case gifEnd:
			return append(out, gifEnd), nil
		case gifExtension:
			keep, err = extension(&rest)
		case gifImage:
			err = gifFrame(&rest)
		default:
			err = errParts
		}
		if err != nil {
			return nil, err
		}
		if keep {
			out = append(out, whole[:len(whole)-len(rest)]...)
		}
	}
	return out, nil
}

// colourTable is the size of the table that a byte of flags announces.
func colourTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// extension passes over an extension and says whether it belongs to the picture.
func extension(rest *[]byte) (bool, error) {
	label, err := cut(rest, 1)
	if err != nil {
		return false, err
	}
	first, err := subBlocks(rest)
	switch label[0] {
	case gifText, gifControl:
		return true, err
	case gifApplication:
		return slices.Contains(gifOwn, string(first)), err
	}
	return false, err
}

// gifFrame passes over a frame.
func gifFrame(rest *[]byte) error {
	head, err := cut(rest, 9)
	if err != nil {
		return err
	}
	if _, err := cut(rest, colourTable(head[8])+1); err != nil { // and how wide the codes begin
		return err
	}
	_, err = subBlocks(rest)
	return err
}

// subBlocks passes over data in blocks and returns the first.
func subBlocks(rest *[]byte) ([]byte, error) {
	var first []byte
	for n := 0; ; n++ {
		size, err := cut(rest, 1)
		if err != nil {
			return nil, err
		}
		if size[0] == 0 {
			return first, nil
		}
		block, err := cut(rest, int(size[0]))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			first = block
		}
	}
}
