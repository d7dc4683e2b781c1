package main

import "time"

// sighting is a program that the server ran: when it was first and last seen alive.
type sighting struct {
	name        string
	first, last time.Time
	read        bool // its environment could be read
	leaked      bool // and held the canary
}

// lookEvery is how often processes are looked at: a twentieth of the bound that is
// proved.
const lookEvery = 50 * time.Millisecond
