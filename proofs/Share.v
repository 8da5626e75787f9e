(* How many words of k bits are decided for a candidate: at most its share of them, and in the limit its share. *)

From Coq Require Import Reals Lra Lia.
From Discreet Require Import Sums Draw.
Open Scope R_scope.

(* How many of the numbers below n are in a set. *)
Definition count (n : nat) (member : nat -> bool) : R :=
  sum n (fun m => if member m then 1 else 0).

(* Of the words of k bits, those in a set. *)
Definition fraction (k : nat) (member : nat -> bool) : R := count (2 ^ k) member / 2 ^ k.

(* Words that fall on i, whatever comes after them: the only ones that may be answered with i. *)
Definition sound (n : nat) (w : nat -> R) (k i : nat) (member : nat -> bool) : Prop :=
  forall m, (m < 2 ^ k)%nat -> member m = true ->
    forall v, 0 <= v < 1 -> known m k v -> falls n w v i.

Lemma INR_power : forall k, INR (2 ^ k) = 2 ^ k.
Proof. intros k. rewrite pow_INR. reflexivity. Qed.

Lemma count_nonneg : forall n member, 0 <= count n member.
Proof. intros. apply sum_nonneg. intros i _. destruct (member i); lra. Qed.

Lemma count_in_interval :
  forall n member a b, a <= b ->
    (forall m, (m < n)%nat -> member m = true -> a <= INR m /\ INR m + 1 <= b) ->
    count n member <= b - a.
Proof.
  intros n member a b ab inside.
  assert (sharper : count n member <= Rmax 0 (Rmin (INR n) b - a)).
  { unfold count. induction n as [|n IH]; cbn [sum].
    - apply Rmax_l.
    - specialize (IH (fun m lt => inside m ltac:(lia))).
      rewrite S_INR.
      destruct (member n) eqn:here.
      + destruct (inside n ltac:(lia) here) as [low high].
        rewrite Rmin_left in IH by lra. rewrite Rmax_right in IH by lra.
        rewrite Rmin_left by lra. rewrite Rmax_right by lra. lra.
      + assert (grows : Rmin (INR n) b <= Rmin (INR n + 1) b)
          by (apply Rle_min_compat_r; lra).
        assert (Rmax 0 (Rmin (INR n) b - a) <= Rmax 0 (Rmin (INR n + 1) b - a))
          by (apply Rle_max_compat_l; lra).
        lra. }
  assert (Rmax 0 (Rmin (INR n) b - a) <= b - a).
  { apply Rmax_lub; [lra|]. pose proof (Rmin_r (INR n) b). lra. }
  lra.
Qed.

Lemma count_of_interval :
  forall n member a b, 0 <= a -> b <= INR n ->
    (forall m, (m < n)%nat -> a <= INR m -> INR m + 1 <= b -> member m = true) ->
    b - a - 2 <= count n member.
Proof.
  intros n member a b a0 bn inside.
  assert (sharper : Rmin (INR n) (b - 1) - a - 1 <= count n member).
  { clear bn. unfold count. induction n as [|n IH]; cbn [sum].
    - pose proof (Rmin_l (INR 0) (b - 1)) as first. cbn in first. cbn. lra.
    - specialize (IH (fun m lt => inside m ltac:(lia))).
      assert (some : 0 <= sum n (fun m => if member m then 1 else 0)) by apply count_nonneg.
      rewrite S_INR.
      destruct (Rle_lt_dec (INR n + 1) b) as [before|beyond].
      + rewrite Rmin_left in IH by lra.
        pose proof (Rmin_l (INR n + 1) (b - 1)).
        destruct (Rle_lt_dec a (INR n)) as [after|early].
        * rewrite (inside n ltac:(lia) after before). lra.
        * destruct (member n); lra.
      + rewrite Rmin_right in IH by lra. rewrite Rmin_right by lra.
        destruct (member n); lra. }
  pose proof (Rmin_glb (INR n) (b - 1) (b - 1)) as least.
  assert (b - 1 <= Rmin (INR n) (b - 1)) by (apply Rmin_glb; lra). lra.
Qed.

Lemma sup_of_known :
  forall m k b, (forall v, INR m <= 2 ^ k * v < INR m + 1 -> v < b) -> (INR m + 1) / 2 ^ k <= b.
Proof.
  intros m k b all. pose proof (power_positive k) as power.
  destruct (Rle_lt_dec ((INR m + 1) / 2 ^ k) b) as [le|lt]; [exact le|exfalso].
  pose (v := Rmax b (INR m / 2 ^ k)).
  assert (up : 2 ^ k * v < INR m + 1).
  { assert (v < (INR m + 1) / 2 ^ k).
    { apply Rmax_lub_lt; [exact lt|].
      unfold Rdiv. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat; exact power|lra]. }
    assert (step : 2 ^ k * v < 2 ^ k * ((INR m + 1) / 2 ^ k)) by (apply Rmult_lt_compat_l; lra).
    replace (2 ^ k * ((INR m + 1) / 2 ^ k)) with (INR m + 1) in step by (field; lra). exact step. }
  assert (down : INR m <= 2 ^ k * v).
  { assert (step : 2 ^ k * (INR m / 2 ^ k) <= 2 ^ k * v)
      by (apply Rmult_le_compat_l; [lra|apply Rmax_r]).
    replace (2 ^ k * (INR m / 2 ^ k)) with (INR m) in step by (field; lra). exact step. }
  specialize (all v (conj down up)). pose proof (Rmax_l b (INR m / 2 ^ k)). unfold v in all. lra.
Qed.

Lemma word_in_unit :
  forall m k v, (m < 2 ^ k)%nat -> known m k v -> 0 <= v < 1.
Proof.
  intros m k v below [low high]. pose proof (power_positive k) as power.
  assert (next : INR m + 1 <= 2 ^ k).
  { rewrite <- INR_power, <- S_INR. apply le_INR. lia. }
  pose proof (pos_INR m) as m0.
  split.
  - apply Rmult_le_reg_l with (2 ^ k); lra.
  - apply Rmult_lt_reg_l with (2 ^ k); lra.
Qed.

(* ---- At most its share, at every number of bits ---- *)

Theorem count_at_most :
  forall n w k i member,
    positive n w -> (i < n)%nat -> sound n w k i member ->
    fraction k member <= w i / sum n w.
Proof.
  intros n w k i member pos lt snd.
  pose proof (total_positive n w ltac:(lia) pos) as total.
  pose proof (power_positive k) as power.
  destruct (share n w i pos lt) as [same [length [from0 upto1]]].
  set (from := sum i w / sum n w) in *. set (upto := sum (S i) w / sum n w) in *.
  assert (most : count (2 ^ k) member <= 2 ^ k * upto - 2 ^ k * from).
  { apply count_in_interval.
    - apply Rmult_le_compat_l; [lra|]. pose proof (pos i lt).
      assert (0 < w i / sum n w) by (apply Rdiv_lt_0_compat; lra). lra.
    - intros m below decided. specialize (snd m below decided).
      assert (inside : forall v, INR m <= 2 ^ k * v < INR m + 1 -> from <= v < upto).
      { intros v word. apply same, snd; [|exact word]. exact (word_in_unit m k v below word). }
      assert (at_low : 2 ^ k * (INR m / 2 ^ k) = INR m) by (field; lra).
      destruct (inside (INR m / 2 ^ k) ltac:(lra)) as [low _].
      pose proof (sup_of_known m k upto (fun v word => proj2 (inside v word))) as high.
      split.
      + rewrite <- at_low. apply Rmult_le_compat_l; lra.
      + replace (INR m + 1) with (2 ^ k * ((INR m + 1) / 2 ^ k)) by (field; lra).
        apply Rmult_le_compat_l; lra. }
  unfold fraction. apply Rmult_le_reg_r with (2 ^ k); [exact power|].
  replace (count (2 ^ k) member / 2 ^ k * 2 ^ k) with (count (2 ^ k) member) by (field; lra).
  rewrite <- length. lra.
Qed.

(* ---- And no less than its share but for what is still open ---- *)

Theorem count_at_least :
  forall n w lo hi r k i member,
    positive n w -> (i < n)%nat -> 0 <= r <= sum n w -> within n w lo hi r ->
    (forall m, (m < 2 ^ k)%nat -> certificate n lo hi m k i -> member m = true) ->
    w i / sum n w - 4 * r / sum n w - 2 / 2 ^ k <= fraction k member.
Proof.
  intros n w lo hi r k i member pos lt [r0 rz] near answers.
  pose proof (total_positive n w ltac:(lia) pos) as total.
  pose proof (power_positive k) as power.
  destruct (near n (le_n n)) as [lon hin].
  destruct (near i ltac:(lia)) as [_ hii].
  destruct (near (S i) ltac:(lia)) as [loi _].
  pose (a := 2 ^ k * ((sum i w + 2 * r) / sum n w)).
  pose (b := 2 ^ k * ((sum (S i) w - 2 * r) / sum n w)).
  assert (az : a * sum n w = 2 ^ k * (sum i w + 2 * r)) by (unfold a; field; lra).
  assert (bz : b * sum n w = 2 ^ k * (sum (S i) w - 2 * r)) by (unfold b; field; lra).
  assert (first : 0 <= sum i w)
    by (pose proof (ends_increase n w 0 i pos ltac:(lia)) as inc; cbn [sum] in inc; exact inc).
  assert (last : sum (S i) w <= sum n w) by (apply (ends_increase n w (S i) n pos); lia).
  assert (some : b - a - 2 <= count (2 ^ k) member).
  { apply count_of_interval.
    - apply Rmult_le_reg_r with (sum n w); [exact total|]. rewrite az, Rmult_0_l.
      apply Rmult_le_pos; lra.
    - rewrite INR_power. apply Rmult_le_reg_r with (sum n w); [exact total|]. rewrite bz.
      apply Rmult_le_compat_l; lra.
    - intros m below low high. apply (answers m below).
      pose proof (pos_INR m) as m0.
      assert (next : INR m + 1 <= 2 ^ k).
      { rewrite <- INR_power, <- S_INR. apply le_INR. lia. }
      split; [exact lt|split; right].
      + assert (a * sum n w <= INR m * sum n w) by (apply Rmult_le_compat_r; lra).
        assert (hi i * 2 ^ k <= (sum i w + r) * 2 ^ k) by (apply Rmult_le_compat_r; lra).
        assert (INR m * (sum n w - r) <= INR m * lo n) by (apply Rmult_le_compat_l; lra).
        assert (INR m * r <= 2 ^ k * r) by (apply Rmult_le_compat_r; lra).
        lra.
      + assert ((INR m + 1) * sum n w <= b * sum n w) by (apply Rmult_le_compat_r; lra).
        assert ((sum (S i) w - r) * 2 ^ k <= lo (S i) * 2 ^ k)
          by (apply Rmult_le_compat_r; lra).
        assert ((INR m + 1) * hi n <= (INR m + 1) * (sum n w + r))
          by (apply Rmult_le_compat_l; lra).
        assert ((INR m + 1) * r <= 2 ^ k * r) by (apply Rmult_le_compat_r; lra).
        lra. }
  unfold fraction. apply Rmult_le_reg_r with (2 ^ k); [exact power|].
  replace (count (2 ^ k) member / 2 ^ k * 2 ^ k) with (count (2 ^ k) member) by (field; lra).
  replace ((w i / sum n w - 4 * r / sum n w - 2 / 2 ^ k) * 2 ^ k) with (b - a - 2); [exact some|].
  unfold a, b. cbn [sum]. field. lra.
Qed.

(* With enclosures that shrink to nothing, and words that grow, the fraction of the words that are decided for i tends
   to its share. *)
Theorem share_converges :
  forall n w i (depth : nat -> nat) (lo hi : nat -> nat -> R) (r : nat -> R)
    (member : nat -> nat -> bool),
    positive n w -> (i < n)%nat ->
    (forall K, exists s0, forall s, (s0 <= s)%nat -> (K <= depth s)%nat) ->
    (forall s, 0 <= r s) -> (forall s, within n w (lo s) (hi s) (r s)) -> Un_cv r 0 ->
    (forall s, sound n w (depth s) i (member s)) ->
    (forall s m, (m < 2 ^ depth s)%nat -> certificate n (lo s) (hi s) m (depth s) i ->
       member s m = true) ->
    Un_cv (fun s => fraction (depth s) (member s)) (w i / sum n w).
Proof.
  intros n w i depth lo hi r member pos lt deep r0 near shrink snd answers e e0.
  pose proof (total_positive n w ltac:(lia) pos) as total.
  destruct (shrink (Rmin (sum n w) (e * sum n w / 16))) as [K1 far1].
  { apply Rmin_pos; [exact total|]. apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|lra]. }
  destruct (small_power (e / 8)) as [K2 far2]; [lra|].
  destruct (deep K2) as [K3 far3].
  exists (Nat.max K1 K3). intros s le.
  specialize (far1 s ltac:(lia)). specialize (far2 (depth s) (far3 s ltac:(lia))).
  unfold R_dist in far1. rewrite Rminus_0_r, Rabs_right in far1 by (apply Rle_ge, r0).
  pose proof (Rmin_l (sum n w) (e * sum n w / 16)).
  pose proof (Rmin_r (sum n w) (e * sum n w / 16)).
  pose proof (count_at_most n w (depth s) i (member s) pos lt (snd s)) as most.
  assert (least : w i / sum n w - 4 * r s / sum n w - 2 / 2 ^ depth s
                  <= fraction (depth s) (member s)).
  { apply count_at_least with (lo := lo s) (hi := hi s); try assumption;
      [|apply near|apply answers].
    split; [apply r0|lra]. }
  assert (slack : 4 * r s / sum n w <= e / 4).
  { apply Rmult_le_reg_r with (sum n w); [exact total|].
    replace (4 * r s / sum n w * sum n w) with (4 * r s) by (field; lra). lra. }
  assert (bits : 2 / 2 ^ depth s <= e / 4) by (unfold Rdiv in *; lra).
  unfold R_dist. apply Rabs_def1; lra.
Qed.
