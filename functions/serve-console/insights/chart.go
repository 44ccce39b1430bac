package insights

// chart is a small bar chart. Its sizes are attributes: a page has no styles of its own.
type chart struct {
	About         string
	Width, Height int
	Bars          []bar
}

// bar is one bar of a chart.
type bar struct {
	Value      float64
	Title      string
	X, Y, W, H int
}

const (
	chartHeight = 100
	barWidth    = 16
	barGap      = 4
	fewestBars  = 12 // a chart is as wide as so many, lest one bar fill it
)

// chartOf gives bars their sizes: the largest is as high as the chart, and what is more than nothing can be seen. Where
// there is nothing, there is no chart.
func chartOf(about string, bars []bar) chart {
	most := 0.0
	for _, b := range bars {
		most = max(most, b.Value)
	}
	if most == 0 {
		return chart{}
	}
	for i := range bars {
		b := &bars[i]
		b.X, b.W, b.Y = i*(barWidth+barGap), barWidth, chartHeight
		if b.Value > 0 {
			b.H = max(2, int(b.Value/most*chartHeight))
			b.Y = chartHeight - b.H
		}
	}
	return chart{about, max(fewestBars, len(bars))*(barWidth+barGap) - barGap, chartHeight, bars}
}
