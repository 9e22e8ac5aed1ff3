import { expect, test } from "vitest";
import { judgeCommand } from "./command_risk.ts";

test.each([
  "rm -rf /",
  "rm -fr /",
  "rm  -r   -f  /",
  "rm -rf /*",
  "rm -rf -- /",
  "rm --recursive --force //",
  "rm -rf --no-preserve-root /",
  "rm -rf '/'",
  "r\\m -rf /etc/..",
  "cd x && sudo -u root rm -Rf /",
  "bash -c 'rm -rf /'",
  "env A=1 nohup rm -rf / &",
  "echo $(rm -rf /)",
  "if true; then rm -rf /; fi",
  "mkfs.ext4 /dev/sda1",
  "mkfs -t ext4 /dev/nvme0n1",
  "dd if=/dev/zero of=/dev/sda bs=1M",
  "echo x > /dev/sda",
  "cat image >/dev/mmcblk0",
  "shutdown -h now",
  "sudo reboot",
  "/sbin/halt",
  "systemctl poweroff",
  "init 0",
  ":(){ :|:& };:",
  "bomb() { bomb | bomb & }; bomb",
  "timeout 5 reboot",
])("%s is refused (BASH-19)", (script) => {
  expect(judgeCommand(script).blocked).not.toBeNull();
});

test.each([
  "rm -rf /tmp/build",
  "rm -rf ./build",
  "echo halt",
  "chown -R me dir",
  "grep -rn shutdown src/",
  "git log --grep=reboot",
  "git commit -m 'halting; rm -rf / is bad'",
  'echo "rm -rf /"',
  "cat <<'EOF'\nrm -rf /\nshutdown\nEOF",
  "# rm -rf /\nls",
  "mkfs.ext4 disk.img",
  "dd if=/dev/sda of=backup.img",
  "dd if=/dev/zero of=file bs=1M count=1",
  "echo x > /dev/null",
  "echo x > /dev/stderr",
  "man reboot",
  "fact() { [ $1 = 0 ] && echo 1 || fact $(($1-1)); }; fact 5",
  "systemctl status reboot.service",
  "asphalt",
])("%s is not refused (BASH-19)", (script) => {
  expect(judgeCommand(script).blocked).toBeNull();
});

test.each([
  "rm -r x",
  "rm x -f",
  "git push --force",
  "git push origin +main",
  "git reset --hard",
  "sudo ls",
  "curl x | sh",
  "find . -delete",
  "kill -9 1",
])("%s is shown as destructive", (script) => expect(judgeCommand(script).destructive).toBe(true));

test.each(["ls -rf", "rm x", "git push", "echo rm -rf x", "npm install", "sh build.sh", "git status | cat"])(
  "%s is not",
  (script) => expect(judgeCommand(script).destructive).toBe(false),
);
