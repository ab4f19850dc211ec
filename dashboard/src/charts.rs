//! Charts as SVG. Their colours are readable on a dark and on a light ground.

use plotters::prelude::*;

/// The colours of the series, in order.
const COLOURS: [RGBColor; 3] =
    [RGBColor(59, 130, 246), RGBColor(217, 119, 6), RGBColor(16, 160, 110)];
const GREY: RGBColor = RGBColor(128, 128, 128);
const SIZE: (u32, u32) = (640, 220);
const FONT: &str = "sans-serif";

/// Values over days.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// The name in the legend.
    pub(crate) name: &'static str,
    /// The values by day; a day without one has no point.
    pub(crate) values: Vec<Option<f64>>,
}

/// A chart of values over days.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    /// The names of the days, oldest first.
    pub(crate) days: Vec<String>,
    /// The series.
    pub(crate) series: Vec<Series>,
    /// A limit, drawn as a grey line, with its name.
    pub(crate) limit: Option<(&'static str, f64)>,
    /// The greatest value of the axis, if it is fixed.
    pub(crate) top: Option<f64>,
}

impl Chart {
    /// Draws the chart; `None` if there is nothing to draw.
    pub(crate) fn svg(&self) -> Option<String> {
        let values = || self.series.iter().flat_map(|series| series.values.iter().flatten());
        values().next()?;
        let greatest =
            values().copied().chain(self.limit.map(|(_, limit)| limit)).fold(1.0, f64::max);
        let top = self.top.unwrap_or(greatest * 1.1);
        let mut svg = String::new();
        // A chart that cannot be drawn is left out; the table beside it has the values.
        self.draw(&mut svg, top).ok()?;
        Some(svg)
    }

    fn draw(&self, svg: &mut String, top: f64) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let fail = |_| DrawingAreaErrorKind::LayoutError;
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        let last = self.days.len().saturating_sub(1).max(1);
        let text = |size: i32| (FONT, size).into_font().color(&GREY);
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(18)
            .x_label_area_size(22)
            .y_label_area_size(52)
            .build_cartesian_2d(0..last, 0.0..top)
            .map_err(fail)?;
        let day = |at: &usize| self.days.get(*at).cloned().unwrap_or_default();
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GREY.mix(0.25))
            .axis_style(GREY)
            .x_labels(self.days.len().clamp(1, 7))
            .x_label_formatter(&day)
            .y_labels(4)
            .y_label_formatter(&|value| short(*value))
            .label_style(text(12))
            .draw()
            .map_err(fail)?;
        if let Some((_, limit)) = self.limit {
            let line = [(0, limit), (last, limit)];
            chart.draw_series(LineSeries::new(line, GREY.stroke_width(1))).map_err(fail)?;
        }
        for (series, colour) in self.series.iter().zip(COLOURS) {
            let known = series.values.iter().enumerate();
            let points: Vec<(usize, f64)> =
                known.filter_map(|(at, value)| Some((at, (*value)?))).collect();
            let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
            chart.draw_series(line).map_err(fail)?;
            let dots = points.iter().map(|point| Circle::new(*point, 3, colour.filled()));
            chart.draw_series(dots).map_err(fail)?;
        }
        drop(chart);
        area.present().map_err(fail)
    }
}

/// Returns the class of a series in the legend.
pub(crate) fn class(at: usize) -> &'static str {
    ["series-1", "series-2", "series-3"].get(at).copied().unwrap_or("series-3")
}

/// Words a value in few characters: `940`, `1.2k`, `3.4M`.
fn short(value: f64) -> String {
    match value {
        v if v >= 1_000_000.0 => format!("{:.1}M", v / 1_000_000.0),
        v if v >= 10_000.0 => format!("{:.0}k", v / 1_000.0),
        v if v >= 1_000.0 => format!("{:.1}k", v / 1_000.0),
        v if v >= 10.0 || v == 0.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}

#[cfg(test)]
mod tests {
    //! Points, gaps and labels.

    use super::*;

    #[test]
    fn every_value_is_a_point_and_a_gap_is_none() {
        let chart = Chart {
            days: ["1 Nov", "2 Nov", "3 Nov"].map(str::to_owned).to_vec(),
            series: vec![Series { name: "tokens", values: vec![Some(900.0), None, Some(1_500.0)] }],
            limit: Some(("budget", 2_500.0)),
            top: None,
        };
        let svg = chart.svg().unwrap();
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        assert!(svg.contains("1 Nov") && svg.contains("2.0k"), "{svg}");
        assert!(!svg.contains("style="), "the policy of the page forbids styles in attributes");
    }

    #[test]
    fn one_day_is_drawn_and_none_is_not() {
        let one = Series { name: "tokens", values: vec![Some(3.0)] };
        let chart = Chart { days: vec!["1 Nov".to_owned()], series: vec![one], ..Chart::default() };
        assert_eq!(chart.svg().unwrap().matches("<circle").count(), 1);
        assert_eq!(Chart::default().svg(), None);
    }

    #[test]
    fn values_are_short() {
        let words = [0.0, 0.25, 12.0, 1_234.0, 12_345.0, 2_500_000.0].map(short);
        assert_eq!(words, ["0", "0.2", "12", "1.2k", "12k", "2.5M"]);
    }
}
