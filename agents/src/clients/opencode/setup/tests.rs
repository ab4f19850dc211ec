//! The plugin's text.

use super::PLUGIN;

/// opencode would have to install a package before it could load the plugin.
#[test]
fn the_plugin_imports_no_package() {
    let imports: Vec<&str> = PLUGIN.lines().filter(|line| line.starts_with("import ")).collect();
    assert!(!imports.is_empty());
    assert!(imports.iter().all(|line| line.contains("from \"node:")), "{imports:?}");
    assert!(!PLUGIN.contains("require(") && !PLUGIN.contains("import("));
}
