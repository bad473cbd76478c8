//! Where the inputs of earlier sessions are kept: in the state folder of the user, as the XDG base directories have it.
//!
//! | system | file |
//! |---|---|
//! | Unix | `$XDG_STATE_HOME/cozo/history`, by default `~/.local/state/cozo/history` |
//! | Windows | `%LOCALAPPDATA%\cozo\history` |

use std::env::var_os;
use std::path::PathBuf;

/// The file, whose folder is made if it is not there; none for a user without a home.
pub fn file() -> Option<PathBuf> {
    let folder = state_folder()?.join("cozo");
    // A folder that cannot be made keeps nothing, which is no reason not to work.
    let _ = std::fs::create_dir_all(&folder);
    Some(folder.join("history"))
}

fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match cfg!(windows) {
        true => absolute("LOCALAPPDATA"),
        false => absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state"))),
    }
}
