//! A report is read back as it was written.

use super::*;

#[test]
fn reports_are_read_as_written() {
    for report in [Report::Ready, Report::Running, Report::Failed("no space left".to_owned())] {
        assert_eq!(Report::parse(&report.to_string()), Some(report));
    }
}

#[test]
fn a_reason_stays_on_one_line() {
    assert_eq!(Report::Failed("a\nb\r\nc".to_owned()).to_string(), "failed: a b  c");
}

#[test]
fn other_lines_are_not_reports() {
    for line in ["", "Ready", "ready ", "failed", "failed:", "error: x"] {
        assert_eq!(Report::parse(line), None, "{line:?}");
    }
}
