//! A client's end of the way out, read so that nothing which it sends along can hold the host up.
//!
//! Over a unix socket descriptors can be sent beside bytes. Whoever reads without taking them closes them, in the thread that reads, and
//! some take as long as their maker likes to be closed: a connection that lingers, a file of his own file system. So nobody can send any
//! where the kernel knows that (Linux 6.16); elsewhere they are taken and closed in a thread of their own, and the workspace's way out is
//! shut.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::{ReadHalf, WriteHalf};

use super::door::Door;

/// Most descriptors that the kernel passes on at once (`SCM_MAX_FD`).
const MOST: usize = 253;

/// A client.
pub(super) struct Client {
    stream: UnixStream,
    door: Arc<Door>,
}

impl Client {
    pub(super) fn new(stream: UnixStream, door: Arc<Door>) -> Self {
        takes_none(&stream);
        Self { stream, door }
    }

    /// The process at the other end, as the kernel says: its number and its user's.
    pub(super) fn peer(&self) -> Option<(i32, u32)> {
        self.stream.peer_cred().ok().map(|peer| (peer.pid().unwrap_or(0), peer.uid()))
    }

    /// The first byte that it says, which stays to be read.
    pub(super) async fn begins(&self) -> Option<u8> {
        loop {
            self.stream.readable().await.ok()?;
            let mut first = [0; 1];
            // Of what is only looked at nothing is closed for the last time.
            match rustix::net::recv(&self.stream, &mut first, RecvFlags::PEEK) {
                Ok((_, 1)) => return Some(first[0]),
                Err(rustix::io::Errno::AGAIN) => {
                    // Readable was said too early: the runtime is told so.
                    let _ = self.stream.try_read(&mut []);
                    tokio::task::yield_now().await;
                }
                Ok(_) | Err(_) => return None,
            }
        }
    }

    /// Both directions.
    pub(super) fn split(&mut self) -> (FromClient<'_>, WriteHalf<'_>) {
        let (half, to) = self.stream.split();
        (FromClient { half, door: &self.door }, to)
    }
}

/// What a client says.
pub(super) struct FromClient<'a> {
    half: ReadHalf<'a>,
    door: &'a Door,
}

impl FromClient<'_> {
    /// Ends when there is something to be read.
    pub(super) async fn readable(&self) -> io::Result<()> {
        self.half.readable().await
    }

    /// Reads what is there.
    pub(super) fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
        let stream: &UnixStream = self.half.as_ref();
        stream.try_io(Interest::READABLE, || received(stream, into, self.door))
    }
}

impl AsyncRead for Client {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            let read = |into: &mut [u8]| received(&self.stream, into, &self.door);
            match self.stream.try_io(Interest::READABLE, || read(into.initialize_unfilled())) {
                Ok(count) => {
                    into.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Client {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Reads what is there. Whoever sends a descriptor along has no way out from then on.
fn received(stream: &UnixStream, into: &mut [u8], door: &Door) -> io::Result<usize> {
    let (count, along) = received_with(stream, into)?;
    if along.is_empty() {
        return Ok(count);
    }
    tracing::warn!(workspace = %door.workspace, "a client of the way out sends descriptors along; it is shut");
    // However long that takes.
    let _ = std::thread::Builder::new().name("closing".to_owned()).spawn(move || drop(along));
    door.shut();
    Err(io::Error::other("descriptors came along"))
}

fn received_with(stream: &UnixStream, into: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut along = RecvAncillaryBuffer::new(&mut space);
    let read = recvmsg(stream, &mut [IoSliceMut::new(into)], &mut along, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for message in along.drain() {
        if let RecvAncillaryMessage::ScmRights(some) = message {
            descriptors.extend(some);
        }
    }
    Ok((read.bytes, descriptors))
}

/// Has the kernel refuse descriptors that somebody sends to this socket, or to one that it takes. A kernel that does not know it says so,
/// and nothing depends on it.
#[expect(unsafe_code, reason = "no crate knows this option yet")]
pub(super) fn takes_none(socket: &impl AsFd) {
    use std::os::fd::AsRawFd as _;
    const SO_PASSRIGHTS: libc::c_int = 83;
    let no: libc::c_int = 0;
    let length = libc::socklen_t::try_from(size_of_val(&no)).unwrap_or_default();
    let value = std::ptr::from_ref(&no).cast();
    // SAFETY: the descriptor lives as long as the borrow, and the value as long as the call.
    let _ = unsafe { libc::setsockopt(socket.as_fd().as_raw_fd(), libc::SOL_SOCKET, SO_PASSRIGHTS, value, length) };
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;
    use std::os::fd::BorrowedFd;

    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

    use super::*;

    fn sends(to: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> rustix::io::Result<usize> {
        let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
        let mut along = SendAncillaryBuffer::new(&mut space);
        assert!(along.push(SendAncillaryMessage::ScmRights(descriptors)));
        sendmsg(to, &[IoSlice::new(b"GET")], &mut along, SendFlags::empty())
    }

    /// They come as they are, all of them, to be closed elsewhere: none is closed by reading.
    #[tokio::test]
    async fn what_comes_along_is_taken() {
        for count in [0, 1, MOST] {
            let (here, there) = UnixStream::pair().unwrap();
            let (keeps, ends) = std::io::pipe().unwrap();
            if count > 0 {
                sends(&there, &vec![ends.as_fd(); count]).unwrap();
            } else {
                there.try_write(b"GET").unwrap();
            }
            drop(ends);
            here.readable().await.unwrap();
            let mut bytes = [0; 16];
            let (read, along) = received_with(&here, &mut bytes).unwrap();
            assert_eq!((read, along.len()), (3, count));
            drop(along);
            // And then nobody has it any more.
            drop(keeps);
        }
    }

    #[tokio::test]
    async fn where_the_kernel_knows_it_none_is_sent() {
        let (here, there) = UnixStream::pair().unwrap();
        let one = std::io::pipe().unwrap().0;
        sends(&there, &[one.as_fd()]).unwrap();
        takes_none(&here);
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version >= (6, 16) {
            assert_eq!(sends(&there, &[one.as_fd()]), Err(rustix::io::Errno::PERM));
        }
    }
}
