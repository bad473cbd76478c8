//! Threads that run one job after the other, so that none is started for each script and each fixed rule.

use std::sync::Mutex;
use std::thread;

use cozo::{PerProcess, Process};
use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::locked;

/// As much as the main thread usually has.
const STACK_BYTES: usize = 8 << 20;

/// How many wait for work.
const MAX_FREE: usize = 8;

/// Something to be done.
pub type Job = Box<dyn FnOnce() + Send>;

/// A thread that one caller has for a while. When this is dropped the thread ends, once it has done what it has begun.
pub struct Worker(Sender<Job>);

/// A forked process has none of its parent's threads, and a list of its own.
static FREE: PerProcess<Mutex<Vec<Worker>>> = PerProcess::new();

impl Worker {
    /// One that is free, or a new one; an error if the system has no thread.
    pub fn take() -> std::io::Result<Worker> {
        let free = locked(FREE.get()).pop();
        free.map_or_else(Worker::start, Ok)
    }

    fn start() -> std::io::Result<Worker> {
        let (jobs, receiver) = unbounded::<Job>();
        thread::Builder::new()
            .name("cozo-script".to_string())
            .stack_size(STACK_BYTES)
            .spawn(move || serve(receiver))?;
        Ok(Worker(jobs))
    }

    /// Has it do a job.
    pub fn give(&self, job: Job) {
        // The receiver is there as long as this is, unless the process was forked: then this thread does not wait for the job.
        let _ = self.0.send(job);
    }

    /// Lets others have it, when it has done its job.
    pub fn give_back(self) {
        let mut free = locked(FREE.get());
        if free.len() < MAX_FREE {
            free.push(self);
        }
    }
}

fn serve(jobs: Receiver<Job>) {
    let process = Process::current();
    while let Ok(job) = jobs.recv() {
        job();
        if !process.is_current() {
            // The job has forked. This thread is the only one here, and with it the process ends.
            std::mem::forget(jobs);
            return;
        }
    }
}
