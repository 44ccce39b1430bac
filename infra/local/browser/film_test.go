package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

// Each picture of a film looks as it was taken, even with more colors than a GIF has, and stores only what changed.
func TestAFilmShowsItsPictures(t *testing.T) {
	film, was := new(Film), []image.Image{}
	for n := range 4 {
		picture := image.NewRGBA(image.Rect(0, 0, 64, 32))
		draw.Draw(picture, picture.Bounds(), image.White, image.Point{}, draw.Src)
		for i := range 600 * min(n, 2) { // the last two are alike
			picture.Set(i%64, i/64, color.RGBA{uint8(i / 5), uint8(i), 90, 255})
		}
		film.Add(picture, 300*time.Millisecond)
		was = append(was, picture)
	}
	var out bytes.Buffer
	expect.NoError(t, film.Write(&out))
	got := expect.Value(gif.DecodeAll(&out))(t)
	expect.Same(t, []int{30, 30, 60}, got.Delay)
	expect.Is(t, got.LoopCount, 0, "it repeats for ever")
	expect.Is(t, got.Image[1].Bounds(), image.Rect(0, 0, 64, 10), "what changed")
	screen := image.NewRGBA(was[0].Bounds())
	for n, part := range got.Image {
		draw.Draw(screen, part.Bounds(), part, part.Bounds().Min, draw.Over)
		for i := range 64 * 32 {
			d := distance(rgb(screen.At(i%64, i/64)), rgb(was[n].At(i%64, i/64)))
			expect.Must(t, d <= 200, "picture %d, pixel %d: %v instead of %v", n, i, screen.At(i%64, i/64), was[n].At(i%64, i/64))
		}
	}
}
