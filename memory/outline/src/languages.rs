//! The languages that have a grammar, one file each.

mod bash;
mod c;
mod c_sharp;
mod cpp;
mod go;
mod java;
mod javascript;
mod json;
mod markdown;
mod php;
mod python;
mod ruby;
mod rust;
mod sql;
mod toml;
mod tsx;
mod typescript;
mod yaml;

use crate::language::Language;

/// All languages. A file that fits two belongs to the first.
pub static LANGUAGES: &[&Language] = &[
    &rust::LANGUAGE,
    &typescript::LANGUAGE,
    &javascript::LANGUAGE,
    &tsx::LANGUAGE,
    &python::LANGUAGE,
    &go::LANGUAGE,
    &java::LANGUAGE,
    &c::LANGUAGE,
    &cpp::LANGUAGE,
    &c_sharp::LANGUAGE,
    &ruby::LANGUAGE,
    &php::LANGUAGE,
    &bash::LANGUAGE,
    &json::LANGUAGE,
    &toml::LANGUAGE,
    &yaml::LANGUAGE,
    &markdown::LANGUAGE,
    &sql::LANGUAGE,
];
