package audit

// chart is a small bar chart with its axes. Sizes are attributes because the pages have no inline styles.
type chart struct {
	About         string
	Top, Half     string // labels of the upper end and the middle of the vertical axis
	Width, Height int
	Bars          []bar
	Columns       []string // labels of the horizontal axis, one for each column; "" for most
}

type bar struct {
	Value      int64
	Title      string
	Label      string // of its column
	X, Y, W, H int
}

const (
	chartHeight = 100
	barWidth    = 16
	barGap      = 4
	fewestBars  = 12 // minimum number of columns, so that one bar doesn't fill the chart
	mostLabels  = 7  // of the horizontal axis, so that they don't overlap on a phone
)

// chartOf sizes the bars by an axis that ends at an even number, which say formats; any bar above zero is visible.
// Without data there is no chart.
func chartOf(about string, bars []bar, say func(int64) string) chart {
	most := int64(0)
	for _, b := range bars {
		most = max(most, b.Value)
	}
	if most == 0 {
		return chart{}
	}
	top := even(most)
	columns := make([]string, max(fewestBars, len(bars)))
	every := (len(bars) + mostLabels - 1) / mostLabels
	for i := range bars {
		b := &bars[i]
		b.X, b.W, b.Y = i*(barWidth+barGap), barWidth, chartHeight
		if b.Value > 0 {
			b.H = max(2, int(float64(b.Value)/float64(top)*chartHeight))
			b.Y = chartHeight - b.H
		}
		if (len(bars)-1-i)%every == 0 {
			columns[i] = b.Label
		}
	}
	return chart{about, say(top), say(top / 2), len(columns)*(barWidth+barGap) - barGap, chartHeight, bars, columns}
}

// even returns the first of 2, 4, 6, 8, 10, 20, 40 … that is not below n, so that half of it is a whole number.
func even(n int64) int64 {
	for power := int64(1); ; power *= 10 {
		for _, digit := range []int64{2, 4, 6, 8, 10} {
			if top := digit * power; top >= n || top > 1<<60 {
				return top
			}
		}
	}
}
