use super::*;

// SEC-085
#[test]
fn what_lies_too_deep_to_be_counted_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::new(vec![folder.path().to_owned()]);
    let name = "d".repeat(200);
    let open = |at: &std::os::fd::OwnedFd, name: &str| {
        rustix::fs::openat(at, name, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap()
    };
    let top = rustix::fs::open(folder.path(), rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
    (0..25).fold(top, |at, _| {
        rustix::fs::mkdirat(&at, &name, rustix::fs::Mode::RWXU).unwrap();
        open(&at, &name)
    });
    let why = disk.over(&Limits::default());
    assert_eq!(why.as_deref(), Some("what it wrote cannot be counted: a folder lies too deep"));
    // What was there before is no fault of the next program.
    assert_eq!(Disk::new(vec![folder.path().to_owned()]).over(&Limits::default()), None);
}

// SEC-085
#[test]
fn what_was_there_before_does_not_count_and_a_second_name_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old"), vec![1; 300_000]).unwrap();
    let limits = Limits { disk_bytes: 200_000, files: 3, ..Limits::default() };
    let mut disk = Disk::new(vec![folder.path().to_owned()]);
    assert_eq!(disk.over(&limits), None);
    fs::write(folder.path().join("new"), vec![1; 150_000]).unwrap();
    fs::hard_link(folder.path().join("new"), folder.path().join("other")).unwrap();
    assert_eq!(disk.over(&limits), None);
    fs::write(folder.path().join("more"), vec![1; 150_000]).unwrap();
    assert_eq!(disk.over(&limits).unwrap(), "it wrote more than 0 MiB");
    fs::remove_file(folder.path().join("more")).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    assert_eq!(disk.over(&limits).unwrap(), "it made more than 3 files");
}

// SEC-085 SEC-093
#[test]
fn a_twentieth_of_a_disk_stays_free_and_at_most_a_gibibyte() {
    let (mib, gib) = (1024 * 1024, 1024 * 1024 * 1024);
    let room = |total: (u64, u64), bytes: u64, files: u64| {
        beyond_reserve(total, &Used { bytes, files, ..Used::default() }).map(|room| (room.bytes / mib, room.files))
    };
    assert_eq!(room((400 * mib, 2000), 21 * mib, 101), Some((1, 1)));
    assert_eq!(room((400 * mib, 2000), 19 * mib, 2000), None);
    assert_eq!(room((400 * mib, 2000), 400 * mib, 99), None);
    assert_eq!(room((4000 * gib, 1 << 40), gib, 20_000), Some((0, 0)));
    assert_eq!(room((4000 * gib, 1 << 40), gib - 1, 20_000), None);
    assert_eq!(room((4000 * gib, 0), 2 * gib, u64::MAX), Some((1024, u64::MAX)));
    // What cannot be looked at holds nobody up.
    assert_eq!(room((0, 0), u64::MAX, u64::MAX).map(|(_, files)| files), Some(u64::MAX));
}

// SEC-085
#[test]
fn where_too_much_was_there_to_be_counted_the_free_room_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::new(vec![folder.path().to_owned()]);
    disk.before.files = COUNTED + 1;
    let limits = Limits { disk_bytes: 1 << 40, files: 1 << 40, ..Limits::default() };
    assert_eq!(disk.over(&limits), None);
    disk.free_before[0].bytes = u64::MAX;
    assert!(disk.over(&limits).unwrap().starts_with("it wrote more than"));
}

/// One that lets others in can be filled by whoever knows a name in it.
// SEC-093 SEC-098
#[test]
fn a_closed_folder_of_somebody_elses_that_lets_nobody_in_is_no_room_of_the_programs() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let about = |mode| {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        fs::metadata(folder.path()).unwrap()
    };
    let ours = about(0o700).uid();
    for mode in [0o000, 0o700, 0o744, 0o1700] {
        assert_eq!((is_out_of_reach(&about(mode), ours + 1), is_out_of_reach(&about(mode), ours)), (true, false));
    }
    for mode in [0o701, 0o702, 0o710, 0o720, 0o733, 0o755] {
        assert!(!is_out_of_reach(&about(mode), ours + 1), "{mode:o}");
    }
    about(0o700);
    // Such folders of the system's, where we cannot list them ourselves.
    for other in ["/root", "/lost+found", "/var/lib/private"].map(Path::new) {
        if other.metadata().is_ok_and(|about| is_out_of_reach(&about, ours)) {
            assert_eq!(count(&[other.to_owned()], &mut HashSet::new(), COUNTED).closed, HashSet::new());
        }
    }
}

/// A program of before may have closed it, for the next one to fill.
// SEC-042 SEC-093
#[test]
fn where_a_folder_was_closed_before_the_free_room_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::new(vec![folder.path().to_owned()]);
    disk.before.closed.insert((1, 1));
    let limits = Limits { disk_bytes: 1 << 40, files: 1 << 40, ..Limits::default() };
    assert_eq!(disk.over(&limits), None);
    disk.free_before[0].bytes = u64::MAX;
    assert!(disk.over(&limits).unwrap().starts_with("it wrote more than"));
}
