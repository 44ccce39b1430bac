package browser

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/chromedp/chromedp"

	"ringi/shared/runtime/expect"
)

// Film is what a page looked like, picture by picture, as an animated GIF.
type Film struct {
	pictures []image.Image
	delays   []int // in hundredths of a second
}

// Take adds the page as it looks now, to be seen for a time.
func (f *Film) Take(p *Tab, seen time.Duration) {
	p.t.Helper()
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	expect.Must(p.t, err == nil, "picture of a film: %v", err)
	picture := expect.Value(png.Decode(bytes.NewReader(shot)))(p.t)
	f.Add(picture, seen)
}

// Add adds a picture. All pictures of a film have the same size.
func (f *Film) Add(picture image.Image, seen time.Duration) {
	f.pictures, f.delays = append(f.pictures, picture), append(f.delays, int(seen/(10*time.Millisecond)))
}

// pointer draws a mouse pointer, which pictures of a page lack.
const pointer = `(([x, y]) => {
  const at = document.body.appendChild(document.createElement("div"));
  at.id = "filmed-pointer";
  at.style.cssText = "position:fixed;z-index:99999;pointer-events:none;left:" + x + "px;top:" + y + "px";
  at.innerHTML = '<svg width="28" height="36" viewBox="0 0 14 18"><path d="M1 1v13l3.5-3 2.2 5.4 2.4-1-2.2-5.2H12z" fill="#111" stroke="#fff"/></svg>';
})([%f, %f])`

// Points draws a mouse pointer in the middle of an element, until PointsAway.
func (p *Tab) Points(selector string) {
	p.t.Helper()
	at := p.spotOf(selector)
	p.Eval(fmt.Sprintf(pointer, at[0], at[1]))
}

func (p *Tab) PointsAway() {
	p.t.Helper()
	p.Eval(`document.querySelector("#filmed-pointer").remove()`)
}

// most is how many colors a film has, beside the one that means that a pixel stays as it was.
const most = 255

// Write writes the film, which begins anew at its end. Each picture but the first has only the rectangle that changed,
// and in it only the pixels that did.
func (f *Film) Write(w io.Writer) error {
	palette, near := f.palette()
	film := gif.GIF{}
	var last []uint8
	for n, picture := range f.pictures {
		all := picture.Bounds()
		now := make([]uint8, all.Dx()*all.Dy())
		changed := image.Rectangle{}
		for i := range now {
			x, y := i%all.Dx(), i/all.Dx()
			now[i] = near[rgb(picture.At(all.Min.X+x, all.Min.Y+y))]
			if last == nil || now[i] != last[i] {
				changed = changed.Union(image.Rect(x, y, x+1, y+1))
			}
		}
		if changed.Empty() {
			film.Delay[len(film.Delay)-1] += f.delays[n]
			continue
		}
		part := image.NewPaletted(changed, palette)
		for y := changed.Min.Y; y < changed.Max.Y; y++ {
			for x := changed.Min.X; x < changed.Max.X; x++ {
				i := y*all.Dx() + x
				if last != nil && now[i] == last[i] {
					part.SetColorIndex(x, y, most)
				} else {
					part.SetColorIndex(x, y, now[i])
				}
			}
		}
		film.Image, film.Delay, last = append(film.Image, part), append(film.Delay, f.delays[n]), now
		film.Disposal = append(film.Disposal, gif.DisposalNone)
	}
	return gif.EncodeAll(w, &film)
}

func rgb(c color.Color) [3]uint8 {
	r, g, b, _ := c.RGBA()
	return [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
}

// palette returns the colors of a film, and the one of them that stands for each color of its pictures. It keeps the
// most frequent ones, and each other color is as near to one of them as the number allows.
func (f *Film) palette() (palette color.Palette, near map[[3]uint8]uint8) {
	count := map[[3]uint8]int{}
	for _, picture := range f.pictures {
		b := picture.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				count[rgb(picture.At(x, y))]++
			}
		}
	}
	colors := slices.SortedFunc(maps.Keys(count), func(a, b [3]uint8) int {
		return cmp.Or(count[b]-count[a], slices.Compare(a[:], b[:]))
	})
	var kept [][3]uint8
	for apart := 0; kept == nil; apart += 1 + apart/4 {
		kept, near = keep(colors, apart)
	}
	for _, c := range kept {
		palette = append(palette, color.RGBA{c[0], c[1], c[2], 255})
	}
	for len(palette) < most {
		palette = append(palette, color.RGBA{A: 255})
	}
	return append(palette, color.RGBA{}), near
}

// keep returns the colors that differ from each more frequent one by more than apart, or nil if they are too many.
func keep(colors [][3]uint8, apart int) (kept [][3]uint8, near map[[3]uint8]uint8) {
	near = map[[3]uint8]uint8{}
	for _, c := range colors {
		best, at := apart+1, 0
		for i, k := range kept {
			if d := distance(c, k); d < best {
				best, at = d, i
			}
		}
		if best > apart {
			if at = len(kept); at == most {
				return nil, nil
			}
			kept = append(kept, c)
		}
		near[c] = uint8(at)
	}
	return kept, near
}

func distance(a, b [3]uint8) (d int) {
	for i := range a {
		by := int(a[i]) - int(b[i])
		d += by * by
	}
	return d
}
