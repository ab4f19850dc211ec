//! The file systems that are refused.

use super::*;

#[test]
fn a_local_directory_is_accepted_even_if_it_does_not_exist_yet() {
    let dir = tempfile::tempdir().unwrap();
    refuse_network_fs(&dir.path().join("a/b/c")).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn network_file_systems_are_recognised_by_number() {
    assert_eq!(kind_of(0x6969), Some("NFS"));
    assert_eq!(kind_of(i64::from(0xFF53_4D42_u32.cast_signed())), Some("CIFS"), "sign-extended");
    assert_eq!(kind_of(0xEF53), None, "ext4");
    assert_eq!(kind_of(0x6573_5546), None, "FUSE alone says nothing");
}

#[cfg(target_os = "linux")]
#[test]
fn a_fuse_mount_is_judged_by_its_type() {
    let mounts = "\
36 35 98:0 / / rw - ext4 /dev/sda rw
40 36 0:50 / /home/me/my\\040remote rw shared:1 - fuse.sshfs host:/ rw
41 40 0:51 / /home/me/my\\040remote/local rw - fuse.gocryptfs /c rw
";
    let at = |path: &str| remote_fuse(mounts, Path::new(path));
    assert_eq!(at("/home/me"), None);
    assert_eq!(at("/home/me/my remote/x"), Some("fuse.sshfs".to_owned()));
    assert_eq!(at("/home/me/my remotely"), None);
    assert_eq!(at("/home/me/my remote/local/x"), None);
}

#[test]
fn the_error_says_what_to_do() {
    let error = StoreError::NetworkDisk { path: "/home/me/x".into(), kind: "NFS".to_owned() };
    assert_eq!(
        error.to_string(),
        "/home/me/x is on a network file system (NFS), where a store can lose data; \
         set ANCHORD_HOME to a local directory"
    );
}
