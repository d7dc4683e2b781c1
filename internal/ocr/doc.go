// Package ocr reads text from pictures: where it stands, what it says, and how
// sure the reading is.
//
// Two engines share the work. PP-OCRv4 finds the lines of every picture and reads
// Chinese and English, also over a photograph; it runs in [Child], a sandboxed run
// of our own binary. Tesseract reads clean screens and slides, every other script,
// and the lines that PP-OCRv4 was not sure of, from pictures that the child
// prepared. [First], [Second] and [Merge] are the pure side: they say which programs
// to run and what their answers mean.
//
// It promises that a picture's size is checked before it is decoded, that a broken
// picture is a [Page] with a Problem and never the end of the others, that a picture
// without text is a page with empty text, and that what it read is passed on as it
// was read. It must never know a video, a workspace or a tool.
package ocr
