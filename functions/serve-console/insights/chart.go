package insights

// chart is a small bar chart. Sizes are attributes because the pages have no inline styles.
type chart struct {
	About         string
	Width, Height int
	Bars          []bar
}

type bar struct {
	Value      float64
	Title      string
	X, Y, W, H int
}

const (
	chartHeight = 100
	barWidth    = 16
	barGap      = 4
	fewestBars  = 12 // minimum number of columns, so that one bar doesn't fill the chart
)

// chartOf sizes the bars: the largest has the chart's height, and any above zero is visible. Without data there is no
// chart.
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
