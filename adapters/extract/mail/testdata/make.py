"""Makes the files of the tests anew with Python's own e-mail and mailbox packages: python3 make.py, in this folder."""
import mailbox
import pathlib
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

letter = EmailMessage(policy=SMTP)
letter["Subject"] = "Mietvertrag für die Wohnung: Kündigungsfrist, Nebenkosten, Übergabe der Schlüssel"
letter["From"] = Address("Jürgen Groß", "juergen", "example.org")
letter["To"] = (Address("Ann Example", "ann", "example.org"), Address("Bob", "bob", "example.org"))
letter["Cc"] = Address("", "office", "example.org")
letter["Date"] = "Mon, 2 Mar 2026 09:30:00 +0100"
letter.set_content("Die Kündigungsfrist beträgt drei Monate.\n\nGrüße\n", charset="iso-8859-1", cte="quoted-printable")
letter.add_alternative("<p>Die <b>Kündigungsfrist</b> beträgt drei Monate.</p><img src=cid:logo>", subtype="html")
letter.get_payload()[1].add_related(b"\x89PNG\r\n\x1a\n", "image", "png", cid="<logo>", filename="logo.png")
handbook = pathlib.Path("../../office/testdata/pandoc.docx").read_bytes()
letter.add_attachment(handbook, "application", "octet-stream", filename="Übergabe.docx")
letter.add_attachment("Name,Price\nBag,4\n", subtype="csv", filename="prices.csv")
letter.add_attachment(b"GIF89a\x01\x00\x01\x00", "image", "gif", filename="plan.gif")
for i, part in enumerate(p for p in letter.walk() if p.is_multipart()):
    part.set_boundary(f"=={i}==")
pathlib.Path("letter.eml").write_bytes(bytes(letter))

pathlib.Path("box.mbox").unlink(missing_ok=True)
box = mailbox.mbox("box.mbox")
for n, (subject, text) in enumerate([
    ("One", "first\n\nFrom here on it is quoted, even at 10:30 in 2026\n"),
    ("Two", "second\n"),
    ("Three", "third, 日本語\n"),
]):
    m = EmailMessage()
    m["Subject"], m["From"] = subject, "ann@example.org"
    m.set_content(text, charset="iso-2022-jp" if n == 2 else "utf-8", cte="7bit")
    m = mailbox.mboxMessage(m)
    m.set_from(f"ann@example.org Mon Mar  2 09:3{n}:00 2026")
    box.add(m)
box.flush()
