//! The view `health`: what `anchord doctor` finds, with the remedies.

use maud::{Markup, html};

use super::{Scene, parts};
use crate::daemon::{Failure, Finding, Severity};

pub(super) async fn view(scene: &Scene<'_>) -> Result<Markup, Failure> {
    let mut findings = scene.app.daemon.findings(false).await?;
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let count = |severity| findings.iter().filter(|it| it.severity == severity).count() as u64;
    let repairable = findings.iter().any(|finding| finding.is_repairable);
    Ok(html! {
        p.lead {
            (parts::count(count(Severity::Problem), "problem")) ", "
            (parts::count(count(Severity::Note), "note")) ", as `anchord doctor` finds them."
        }
        @if repairable {
            (parts::action(scene, "repair", "Repair what is safe to repair", None, &[]))
        }
        @for finding in &findings { (shown(finding)) }
    })
}

fn shown(finding: &Finding) -> Markup {
    let (class, sign) = match finding.severity {
        Severity::Good => ("finding good", "✓"),
        Severity::Note => ("finding note", "–"),
        Severity::Problem => ("finding bad", "✗"),
    };
    html! {
        div class=(class) {
            p { span aria-hidden="true" { (sign) } " " strong { (finding.about) } " " (finding.what) }
            @if let Some(action) = finding.fixed.as_ref().or(finding.action.as_ref()) {
                p.faint { (action) }
            }
        }
    }
}
