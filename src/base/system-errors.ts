const reasons: { readonly [code: string]: string } = {
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk fails',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EEXIST: 'a file is where a folder has to be',
  ENOTDIR: 'a file is where a folder has to be',
  EISDIR: 'it is a folder',
  ELOOP: 'a symbolic link leads to itself',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EADDRINUSE: 'another program listens on it',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAI_AGAIN: 'the host could not be looked up',
  ENOTFOUND: 'there is no such host',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
  ERR_STRING_TOO_LONG: 'it is too large',
};

/** Whether the operating system reported the error; otherwise it is a bug. */
export function isSystemError(failure: unknown): failure is NodeJS.ErrnoException {
  return failure instanceof Error && 'code' in failure && /^E[A-Z0-9]+$/.test(String(failure.code));
}

/** Why the operating system refused an operation, followed by the error code. */
export function systemErrorText(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const code = 'code' in failure ? String(failure.code) : '';
  const reason = reasons[code];
  return reason === undefined ? failure.message : `${reason} (${code})`;
}
