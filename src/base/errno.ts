const words: { readonly [code: string]: string } = {
  EDQUOT: 'the quota of the disk is used up',
  EIO: 'the disk fails',
  EACCES: 'this user may not do that',
  EPERM: 'this user may not do that',
  EEXIST: 'a file stands where a folder has to be',
  ENOTDIR: 'a file stands where a folder has to be',
  EISDIR: 'it is a folder',
  ELOOP: 'a symbolic link leads to itself',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'it is not there',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
  EADDRINUSE: 'another program listens on it',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAI_AGAIN: 'the host could not be looked up',
  ENOTFOUND: 'there is no such host',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
  ERR_STRING_TOO_LONG: 'it is too large',
};

/** Whether it is the file system that refused, and no mistake of ours. */
export function isRefusal(failure: unknown): failure is NodeJS.ErrnoException {
  return failure instanceof Error && 'code' in failure && /^E[A-Z0-9]+$/.test(String(failure.code));
}

/** Why the system refused a file or a port, in words, followed by the code. */
export function whyRefused(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const code = 'code' in failure ? String(failure.code) : '';
  const said = words[code];
  return said === undefined ? failure.message : `${said} (${code})`;
}
