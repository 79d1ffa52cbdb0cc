package dashboard

// themeColors returns the named colors of thresholds.
func themeColors() map[string]string {
	return map[string]string{
		"green": "#73bf69", "red": "#f2495c", "orange": "#ff9830", "yellow": "#fade2a", "blue": "#5794f2", "purple": "#b877d9",
		"text": "#d8d9e0",
	}
}

// lineColor returns the color of the nth line of a panel.
func lineColor(n int) string {
	palette := []string{
		"#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#5794f2", "#b877d9", "#56b89c", "#e0b400", "#c0d8ff", "#ffb357", "#ff7383",
	}
	return palette[n%len(palette)]
}

// color returns that of the last step that a value reaches.
func (t *Thresholds) color(value float64) string {
	name := ""
	for _, s := range t.Steps {
		if s.Value == nil || *s.Value <= value {
			name = s.Color
		}
	}
	return themeColors()[name]
}
