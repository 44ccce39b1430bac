package main

import (
	"encoding/binary"
	"ringi/shared/runtime/isolated"
	"slices"
	"unicode/utf16"
)

// ofCompound tells what a compound file is by the names in it ([MS-CFB]): an encrypted file of Office, one in an old
// form of Office, or one of another program. Mails of Outlook are compound files, too, and may hold any other.
func ofCompound(file []byte) isolated.Unreadable {
	names := directory(file)
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(name string) bool { return slices.Contains(names, name) })
	}
	switch {
	case has("__properties_version1.0"):
		return isolated.OtherType
	case has("EncryptedPackage"):
		return isolated.Encrypted
	case has("WordDocument", "Workbook", "Book", "PowerPoint Document"):
		return isolated.OldOffice
	}
	return isolated.OtherType
}

// Places in the header of a compound file, and sizes.
const (
	sectorShift, firstDirectory, firstTable = 30, 48, 76
	headerSize, entrySize, entryName        = 512, 128, 64
)

// directory returns the names in a compound file, as far as its table of sectors leads.
func directory(file []byte) (names []string) {
	number := func(at int) int {
		if at < 0 || at+4 > len(file) {
			return -1
		}
		return int(binary.LittleEndian.Uint32(file[at:]))
	}
	if len(file) < headerSize || file[sectorShift] < 9 || file[sectorShift] > 12 {
		return nil
	}
	size := 1 << file[sectorShift]
	place := func(sector int) int { return (sector + 1) * size }
	sector := number(firstDirectory)
	for range len(file) / size {
		if sector < 0 || place(sector)+size > len(file) {
			break
		}
		for at := place(sector); at < place(sector)+size; at += entrySize {
			names = append(names, entryOf(file[at:at+entrySize]))
		}
		table, within := sector/(size/4), sector%(size/4)
		if firstTable+4*table >= headerSize {
			break
		}
		sector = number(place(number(firstTable+4*table)) + 4*within)
	}
	return names
}

// entryOf returns the name in an entry.
func entryOf(entry []byte) string {
	var name []uint16
	for i := 0; i < entryName; i += 2 {
		c := binary.LittleEndian.Uint16(entry[i:])
		if c == 0 {
			break
		}
		name = append(name, c)
	}
	return string(utf16.Decode(name))
}
